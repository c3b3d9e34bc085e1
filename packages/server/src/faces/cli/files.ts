import { createReadStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { Option } from "commander";
import { csvText } from "../../csv/writing.ts";
import type { GivenFile, Trailer } from "../../office/fields.ts";
import { notRegular } from "../../system/files.ts";
import { withFile } from "./failures.ts";
import type { Runtime } from "./runtime.ts";

/* Files that commands read and write. */

/** The name of stdin or stdout where a command takes a file. */
export const STDIO = "-";

/** Whether a file is CSV, by its name. Other files are NDJSON. */
export function isCsv(file: string | undefined): boolean {
  return file?.toLowerCase().endsWith(".csv") === true;
}

/** Opens regular files only: an import reads a file twice, and pipes and stdin can be read only once. */
export function openRegularFile(path: string): AsyncIterable<Uint8Array> {
  if (path === STDIO)
    throw Object.assign(new Error("stdin cannot be used here: name a file"), { syscall: "open", path });
  if (statSync(path).isFile()) return createReadStream(path);
  throw notRegular(path);
}

/** A regular file that is open, and can be read again and again after the process has become another user. */
export async function openedFile(path: string) {
  if (!statSync(path).isFile()) throw notRegular(path);
  const handle = await open(path);
  return { read: () => handle.createReadStream({ start: 0, autoClose: false }), close: () => handle.close() };
}

/** A file to read. Stdin is kept in memory, since it may be read twice. */
export async function fileAt({ openFile, readStdin }: Runtime, path: string): Promise<GivenFile> {
  if (path !== STDIO) return { name: basename(path), isCsv: isCsv(path), open: () => openFile(path) };
  const bytes = Buffer.from(await readStdin());
  const open = async function* () {
    yield bytes;
  };
  return { name: "stdin", isCsv: false, open };
}

/** Opens a large file. Stdin is copied to a temporary file, since it is read twice. */
export async function withFileAt<Result>(
  runtime: Runtime,
  path: string,
  work: (file: GivenFile) => Promise<Result>,
): Promise<Result> {
  if (path !== STDIO) return work(await fileAt(runtime, path));
  const copy = runtime.createTemporaryFile();
  try {
    await copy.write(runtime.openStdin());
    return await work({ name: "stdin", isCsv: false, open: copy.open });
  } finally {
    await copy.remove();
  }
}

/** Rows for NDJSON and CSV. */
interface Page {
  readonly rows: readonly object[];
  readonly csv: () => readonly (readonly string[])[];
}

export interface Output {
  readonly output?: string;
  /** Whether an existing file is replaced, once the new one is complete. */
  readonly replace?: boolean;
}

export function outputOptions(): Option[] {
  const file = "file that only its owner can read; CSV if it ends in .csv, else NDJSON (default: -, stdout)";
  return [new Option("--output <FILE>", file), new Option("--replace", "replace an existing file")];
}

/** Writes pages of rows to a file or to stdout. The trailer is the last row of NDJSON; with CSV it goes to stderr. */
export async function writeExport(
  runtime: Runtime,
  header: readonly string[],
  pages: AsyncGenerator<Page, Trailer | undefined>,
  { output, replace = false }: Output,
): Promise<void> {
  const asCsv = isCsv(output);
  let [summary, rows] = ["", 0];
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    if (asCsv) yield Buffer.from(csvText([header]));
    let next = await pages.next();
    for (; next.done !== true; next = await pages.next()) {
      const page = next.value;
      yield Buffer.from(asCsv ? csvText(page.csv()) : page.rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      rows += page.rows.length;
    }
    const trailer = next.value;
    if (trailer === undefined) return;
    if (asCsv)
      summary = Object.entries(trailer)
        .map(([name, value]) => `${name} ${value}\n`)
        .join("");
    else yield Buffer.from(`${JSON.stringify(trailer)}\n`);
  };
  if (output === undefined || output === STDIO) {
    // The reader closed the pipe: print nothing more.
    if (!(await runtime.streamOut(pieces()))) return;
  } else await withFile(output, "be written", () => runtime.writeFile(output, pieces(), { replace }));
  runtime.stderr(`${rows} exported\n${summary}`);
}

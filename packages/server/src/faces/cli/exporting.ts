import { csvText } from "../../csv/writing.ts";
import type { Trailer } from "../../office/fields.ts";
import { isCsv, STDIO } from "./options.ts";
import { type Runtime, withFile } from "./runtime.ts";

/** Rows, for NDJSON and for CSV. */
interface Page {
  readonly rows: readonly object[];
  readonly csv: () => readonly (readonly string[])[];
}

/** Writes pages of rows to a new file or to stdout. The trailer is the last row of NDJSON; beside CSV it goes to stderr. */
export async function writeExport(
  runtime: Runtime,
  header: readonly string[],
  pages: AsyncGenerator<Page, Trailer | undefined>,
  output: string | undefined,
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
    // A reader who has seen enough is told nothing more.
    if (!(await runtime.streamOut(pieces()))) return;
  } else await withFile(output, "be written", () => runtime.writeFile(output, pieces(), { overwrite: false }));
  runtime.stderr(`${rows} exported\n${summary}`);
}

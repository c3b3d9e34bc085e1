import type { AuditCheckpoint } from "../../domain/audit.ts";
import { readLines } from "../../operations/read-lines.ts";
import { isFileError } from "../output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

const CHECKPOINT = /^([1-9][0-9]{0,9}):([0-9a-f]{64})$/;

/** An entry tells of what an import's line told, before and after, as JSON in JSON. */
const ENTRY_MAX_BYTES = 16 * 1024 * 1024;

/** Entries of the audit trail as they were noted elsewhere: on the command line, and in a file of audit export. */
export async function readCheckpoints(
  runtime: Runtime,
  { checkpoint, against }: { readonly checkpoint: readonly string[]; readonly against?: string },
): Promise<AuditCheckpoint[]> {
  const given = checkpoint.map(readCheckpoint);
  if (against === undefined) return given;
  const exported: AuditCheckpoint[] = [];
  try {
    for await (const lines of readLines(runtime.openFile(against), ENTRY_MAX_BYTES))
      for (const { number, text } of lines) exported.push(readExported(text, `${against}, line ${number}`));
  } catch (error) {
    if (isFileError(error)) throw new CommandFailed(`${against} cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
  if (exported.length === 0) throw new CommandFailed(`${against} holds no entry of an audit trail`);
  return [...given, ...exported];
}

function readCheckpoint(text: string): AuditCheckpoint {
  const [, seq, hash] = CHECKPOINT.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw new WrongUsage(
    `--checkpoint must be a number, a colon and 64 hexadecimal digits, as audit export says them, but is ${JSON.stringify(text)}`,
  );
}

function readExported(text: string | undefined, where: string): AuditCheckpoint {
  try {
    const { seq, hash } = JSON.parse(text ?? "") as Record<string, unknown>;
    if (typeof seq === "number" && typeof hash === "string") return readCheckpoint(`${seq}:${hash}`);
  } catch {
    // Said below, as for a line that is JSON and something else.
  }
  throw new CommandFailed(`${where} is no entry of an audit trail`);
}

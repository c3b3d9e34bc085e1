import type { Static } from "typebox";
import type { ProviderSettings } from "../../store/store.ts";
import type { Shown } from "../operation.ts";
import { printable, shellWord } from "../text.ts";
import type { AuditEntrySchema, AuditListSchema, AuditVerificationSchema } from "./schemas.ts";

/** An import's entry tells of many: only --json prints all of it. */
const MOST_SHOWN = 400;

export function auditLines({ items }: Static<typeof AuditListSchema>, { zone }: ProviderSettings): Shown {
  return { out: items.map((entry) => entryLines(entry, zone.wallTime(Date.parse(entry.at)))).join("") };
}

function entryLines(entry: Static<typeof AuditEntrySchema>, time: string): string {
  const { seq, author, action, subject, reason, parts, before, after } = entry;
  const title = `${seq}  ${time}  ${action}  ${subject}  by ${author}${reason === null ? "" : `: ${reason}`}`;
  const more = `${parts} entries: add --reason ${shellWord(reason ?? "")} to see each`;
  const change = `${stateText(before)} -> ${stateText(after)}`;
  const shown = change.length > MOST_SHOWN ? `${change.slice(0, MOST_SHOWN)}… (--json shows all)` : change;
  return `${printable(title)}\n    ${parts > 1 ? more : printable(shown)}\n`;
}

function stateText(state: unknown): string {
  return state === null ? "nothing" : JSON.stringify(state);
}

export function verificationLines(verification: Static<typeof AuditVerificationSchema>): Shown {
  const { entries, checkpoint, problem } = verification;
  if (problem !== null) return { out: "", wrong: problem };
  const out = `ok     ${entries} entries, each follows from the one before it\n`;
  const keep = `To find out later whether anything up to here was changed, keep this elsewhere: --checkpoint ${checkpoint}\n`;
  return { out, note: checkpoint === null ? "" : keep };
}

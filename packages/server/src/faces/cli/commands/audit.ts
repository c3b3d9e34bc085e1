import { type Command, Option } from "commander";
import { AUDIT_ACTIONS, type AuditCheckpoint, type AuditEntry } from "../../../domain/audit.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import { jsonLine, printable, shellWord } from "../../../office/text.ts";
import {
  type AuditVerdict,
  listAudit,
  MAX_AUDIT_ENTRIES,
  readAudit,
  readCheckpoint,
  verifyAudit,
} from "../../../services/staff/audit.ts";
import type { AuditFilter, ListedAuditEntry } from "../../../store/search.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { type DayFlags, flags, readDays } from "../options.ts";
import { FoundWrong, type Runtime, WrongUsage } from "../runtime.ts";

type ListFlags = DayFlags &
  Pick<AuditFilter, "author" | "action" | "subject" | "reason" | "cuid" | "upTo"> & { readonly limit: number };

/** `topupd audit ...`: who changed what, when and why. */
export function addAuditCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "audit", "list, verify and export what staff and imports have changed");
  addStoreCommand<ListFlags>(group, runtime, {
    name: "list",
    description: "list changes, newest first",
    options: [
      ...flags.days(),
      new Option("--author <NAME>", "made by this user, or --as this name"),
      new Option("--action <ACTION>", "of this kind").choices(AUDIT_ACTIONS),
      new Option("--subject <TEXT>", "of this subject, just as a list shows it"),
      new Option("--reason <TEXT>", "with this reason, each entry of an import by itself"),
      new Option("--cuid <CUID>", "of this customer, and of an import what it did to this one"),
      flags.limit(MAX_AUDIT_ENTRIES),
      flags.number("--up-to <SEQ>", "go on from this entry down", 2_147_483_647),
    ],
    examples: ["topupd audit list --from 2026-11-20", "topupd audit list --action transaction.reverse --json"],
    async run({ store, showRows }, _, given) {
      const { author, action, subject, reason, cuid, upTo, limit } = given;
      const filter = { author, action, subject, reason, cuid, upTo, ...readDays(given, store) };
      const { entries, next } = await listAudit({ store }, { filter, limit });
      const { zone } = store.provider;
      const words = () => entries.map((entry) => entryWords(entry, zone.wallTime(entry.at))).join("");
      showRows(
        entries.map((entry) => ({ ...entryJson(entry), parts: entry.parts })),
        words,
      );
      if (next !== undefined) runtime.stderr(`There are more: add --up-to ${next}\n`);
    },
  });
  addStoreCommand<{ readonly checkpoint: readonly string[] }>(group, runtime, {
    name: "verify",
    description: "find out whether an entry was changed, removed, moved or cut off (exit code 3: one was)",
    options: [flags.list("--checkpoint <SEQ:HASH>", "an entry that was noted elsewhere", "none")],
    examples: ["topupd audit verify"],
    run: (session, _, { checkpoint }) => verify(session, checkpoint),
  });
  addStoreCommand<object>(group, runtime, {
    name: "export",
    description: "print all entries as NDJSON, oldest first, and on stderr a checkpoint to keep elsewhere",
    examples: ["topupd audit export"],
    json: false,
    async run(session) {
      let last: AuditCheckpoint | undefined;
      const lines = async function* () {
        for await (const entry of readAudit(session)) {
          yield Buffer.from(jsonLine(entryJson(entry)));
          last = entry;
        }
      };
      if ((await runtime.streamOut(lines())) && last !== undefined) runtime.stderr(toKeep(last));
    },
  });
}

/** What it was before and is after stays a text, of which the hash was taken. */
function entryJson({ seq, at, author, action, subject, reason, before, after, hash }: AuditEntry) {
  const rest = { reason: reason ?? null, before: before ?? null, after: after ?? null, hash };
  return { seq, at: isoTime(at), author, action, subject, ...rest };
}

/** An import's entry tells of many: all that is in it is for --json. */
const MOST_SHOWN = 400;

function entryWords(entry: ListedAuditEntry, time: string): string {
  const { seq, author, action, subject, reason = "", parts, before, after } = entry;
  const title = `${seq}  ${time}  ${action}  ${subject}  by ${author}${reason === "" ? "" : `: ${reason}`}`;
  if (parts > 1) return `${printable(title)}\n    ${parts} entries: add --reason ${shellWord(reason)} to see each\n`;
  const change = `${before ?? "nothing"} -> ${after ?? "nothing"}`;
  const shown = change.length > MOST_SHOWN ? `${change.slice(0, MOST_SHOWN)}… (--json shows all)` : change;
  return `${printable(title)}\n    ${printable(shown)}\n`;
}

async function verify(session: Session, noted: readonly string[]): Promise<void> {
  const checkpoints = noted.map((text) => {
    const checkpoint = readCheckpoint(text);
    if (checkpoint !== undefined) return checkpoint;
    throw new WrongUsage("--checkpoint must be a number, a colon and 64 hexadecimal digits, as verify says them");
  });
  const verdict = await verifyAudit(session, { checkpoints });
  session.show(verdict, verdict.kind === "whole" ? wholeWords(verdict) : "");
  if (verdict.kind === "broken") throw new FoundWrong(`the audit trail is broken: ${verdict.why}`);
  const { last } = verdict;
  if (verdict.kind === "another") {
    const { seq } = verdict.checkpoint;
    const why = seq > last.seq ? `it ends with entry ${last.seq}` : "another entry stands there";
    throw new FoundWrong(`the audit trail is not the one of checkpoint ${seq}: ${why}`);
  }
  if (!session.isJson) session.runtime.stderr(toKeep(last));
}

function wholeWords({ last, checkpoints }: Extract<AuditVerdict, { kind: "whole" }>): string {
  const kept = `ok     all that was kept elsewhere is still there (${checkpoints})\n`;
  return `ok     ${last.seq} entries, each follows from the one before it\n${checkpoints === 0 ? "" : kept}`;
}

function toKeep({ seq, hash }: AuditCheckpoint): string {
  return `To find out later whether anything up to here was changed, keep this elsewhere: --checkpoint ${seq}:${hash}\n`;
}

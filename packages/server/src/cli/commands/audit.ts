import { type Command, Option } from "commander";
import { AUDIT_ACTIONS, type AuditCheckpoint, type AuditEntry } from "../../domain/audit.ts";
import { entryOfCustomer } from "../../domain/customer-audit.ts";
import { type AuditVerdict, readAuditTrail, verifyAuditTrail } from "../../operations/verify-audit-trail.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson } from "../output.ts";
import { FoundWrong, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { type FilterFlags, readDays } from "../transaction-flags.ts";
import { readWholeNumber } from "../whole-number.ts";
import { printable, printableJson, wrap } from "../words/text.ts";
import { readCheckpoints } from "./audit-checkpoints.ts";

interface ListFlags extends OutputOptions, Pick<FilterFlags, "from" | "to"> {
  readonly author?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly cuid?: string;
  readonly limit: string;
  readonly upTo?: string;
}

interface VerifyOptions extends OutputOptions {
  readonly checkpoint: readonly string[];
  readonly against?: string;
}

const MOST_ENTRIES = 1_000;

/** `topupd audit ...`: who changed what, when and why. */
export function addAuditCommands(program: Command, runtime: Runtime): void {
  const audit = program
    .command("audit")
    .description("list, verify and export what staff and imports have changed")
    .helpCommand(false);
  addListCommand(audit, runtime);
  addVerifyCommand(audit, runtime);
  addExportCommand(audit, runtime);
}

function addListCommand(parent: Command, runtime: Runtime): void {
  const list = parent
    .command("list")
    .description("list changes, newest first")
    .option("--from <DAY>", "from this day on, YYYY-MM-DD in the provider's zone")
    .option("--to <DAY>", "up to and with this day")
    .option("--author <NAME>", "made by this user, or --as this name")
    .addOption(new Option("--action <ACTION>", "of this kind").choices(AUDIT_ACTIONS))
    .option("--subject <TEXT>", "of this subject, just as a list shows it")
    .option("--cuid <CUID>", "of this customer, and of an import what it did to this one")
    .addOption(new Option("--limit <NUMBER>", `how many at most, up to ${MOST_ENTRIES}`).default("50", "50"))
    .option("--up-to <SEQ>", "go on from this entry down")
    .addOption(jsonOption());
  examples(list, ["topupd audit list --from 2026-11-20", "topupd audit list --action transaction.reverse --json"]);
  addSettings(list, STORE_SETTINGS).action(async (flags: ListFlags) => {
    const { author, action, subject, cuid, json } = flags;
    const limit = readWholeNumber("--limit", flags.limit, MOST_ENTRIES);
    const upTo = flags.upTo === undefined ? undefined : readWholeNumber("--up-to", flags.upTo, 2_147_483_647);
    readDays(flags);
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      const { calendar } = store.provider;
      const filter = { author, action, subject, cuid, upTo, ...readDays(flags, calendar) };
      const entries = await store.auditTrail.list(filter, limit + 1);
      for (const each of entries.slice(0, limit)) {
        const entry = cuid === undefined ? each : entryOfCustomer(each, cuid);
        if (json === true) printJson(runtime, entryJson(entry));
        else runtime.stdout(words(entry, calendar.format(entry.at)));
      }
      const next = entries[limit];
      if (next !== undefined) runtime.stderr(`There are more: add --up-to ${next.seq}\n`);
    });
  });
}

function addVerifyCommand(parent: Command, runtime: Runtime): void {
  const verify = parent
    .command("verify")
    .description("find out whether an entry was changed, removed, moved or cut off (exit code 3: one was)")
    .addOption(
      new Option("--checkpoint <SEQ:HASH>", "an entry that was noted elsewhere; may be given again")
        .argParser((text: string, former: readonly string[]) => [...former, text])
        .default([], "none"),
    )
    .option("--against <FILE>", "the trail as audit export wrote it before: all of it must still be there")
    .addOption(jsonOption());
  examples(verify, ["topupd audit verify --against audit-2026-10.ndjson"]);
  addSettings(verify, STORE_SETTINGS).action(async (options: VerifyOptions) => {
    const checkpoints = await readCheckpoints(runtime, options);
    await withStore(verify, runtime, { mustExist: true }, async (store) => {
      conclude(runtime, await verifyAuditTrail({ store }, checkpoints), options);
    });
  });
}

function addExportCommand(parent: Command, runtime: Runtime): void {
  const command = parent
    .command("export")
    .description("print all entries as NDJSON, oldest first: its last line is a checkpoint");
  examples(command, ["topupd audit export"]);
  addSettings(command, STORE_SETTINGS).action(async () => {
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      let last: AuditCheckpoint | undefined;
      const lines = async function* () {
        for await (const entry of readAuditTrail({ store })) {
          yield Buffer.from(`${printableJson(entryJson(entry))}\n`);
          last = entry;
        }
      };
      const isWhole = await runtime.streamOut(lines());
      if (isWhole && last !== undefined)
        runtime.stderr(
          `Keep this elsewhere: --checkpoint ${last.seq}:${last.hash} shows that nothing up to here was changed.\n`,
        );
    });
  });
}

function conclude(runtime: Runtime, verdict: AuditVerdict, { json }: OutputOptions): void {
  if (json === true) printJson(runtime, verdict);
  if (verdict.kind === "broken") throw new FoundWrong(`the audit trail is broken: ${verdict.why}`);
  if (verdict.kind === "another") {
    const { checkpoint, last } = verdict;
    const why = checkpoint.seq > last.seq ? `it ends with entry ${last.seq}` : "another entry stands there";
    throw new FoundWrong(`the audit trail is not the one of checkpoint ${checkpoint.seq}: ${why}`);
  }
  if (json === true) return;
  const { last, checkpoints } = verdict;
  runtime.stdout(`ok     ${last.seq} entries, each follows from the one before it\n`);
  if (checkpoints > 0) runtime.stdout(`ok     all that was kept elsewhere is still there (${checkpoints})\n`);
  else runtime.stderr("Without --checkpoint or --against, nothing tells whether the end was cut off.\n");
}

/** By its own JSON where that is whole: what it was before and is after stays a text, of which the hash was taken. */
function entryJson({ seq, at, author, action, subject, reason, before, after, hash }: AuditEntry) {
  const rest = { reason: reason ?? null, before: before ?? null, after: after ?? null, hash };
  return { seq, at: isoTime(at), author, action, subject, ...rest };
}

/** An import's entry tells of many: what is in it is for --json. */
const MOST_SHOWN = 400;

function words({ seq, author, action, subject, reason, before, after }: AuditEntry, time: string): string {
  const title = `${seq}  ${time}  ${action}  ${subject}  by ${author}${reason === undefined ? "" : `: ${reason}`}`;
  const change = `${before ?? "nothing"} -> ${after ?? "nothing"}`;
  const shown = change.length > MOST_SHOWN ? `${change.slice(0, MOST_SHOWN)}… (--json shows all)` : change;
  return `${wrap(printable(title), "")}${wrap(printable(shown), "    ")}`;
}

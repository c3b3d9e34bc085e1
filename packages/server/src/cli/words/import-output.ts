import type { ImportedRow, ImportOptions, ImportReport, PassedOverRow } from "../../operations/import-report.ts";
import type { ReadRows, RejectedLine } from "../../operations/source-rows.ts";
import { type OutputOptions, printJson } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { PlanChanges } from "./plan-changes.ts";
import { progressLine } from "./progress-line.ts";
import { count, printable } from "./text.ts";

export interface ImportFlags extends OutputOptions {
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
}

/** What hears of an import, and tells of it. */
export interface ImportOutput {
  readonly hooks: ImportOptions;
  /** @throws CommandFailed where nothing was taken. */
  readonly conclude: (report: ImportReport) => void;
  readonly fail: () => void;
}

/** Lines between two words of progress. */
const PROGRESS_LINES = 5_000;

/** How many refused lines, and changes, a report names, on stderr and in JSON; of the others it has the number. */
const MOST_NAMED = 1_000;

/** The first refused lines go to stderr as they are met; so do, to stdout, the changes that a dry run finds. */
export function importOutput(
  runtime: Runtime,
  { skipInvalid = false, dryRun = false, json }: ImportFlags,
  readRows: ReadRows,
): ImportOutput {
  const progress = progressLine(runtime);
  const refused = new Some<RejectedLine>();
  const changes = new Some<ImportedRow>();
  const notTaken = new Some<PassedOverRow>();
  const plans = new PlanChanges();
  let hasWritten = false;
  const hooks: ImportOptions = {
    skipInvalid,
    dryRun,
    readRows,
    onRejected: (line) => {
      if (refused.add(line)) progress.interrupt(describeRefused(line));
    },
    onProgress: ({ step, lines }) => {
      hasWritten ||= step === "writing";
      if (step !== "checking" || lines % PROGRESS_LINES === 0) progress.show(`${step} ... ${lines} lines`);
    },
    onChange: (change) => {
      plans.add(change);
      if (!dryRun) return;
      changes.add(change);
      if (json === true) return;
      progress.end();
      runtime.stdout(`${describeChange(change)}\n`);
    },
    onPassedOver: (subscription) => {
      if (notTaken.add(subscription)) progress.interrupt(describeNotTaken(subscription));
    },
  };
  return {
    hooks,
    conclude(report) {
      progress.end();
      // Whatever fails from here on, the report has said what was written.
      hasWritten = false;
      runtime.stderr(plans.describe());
      if (refused.more > 0) runtime.stderr(`and ${count(refused.more, "more line")} rejected\n`);
      if (notTaken.more > 0) runtime.stderr(`and ${notTaken.more} more subscriptions are not taken\n`);
      runtime.stderr(laidOnTopWords(report, dryRun));
      if (json === true) {
        const found = dryRun ? { dryRun, changes: changes.named, moreChanges: changes.more } : {};
        const lists = {
          ...{ refused: refused.named, moreRefused: refused.more },
          ...(report.passedOver === undefined ? {} : { notTaken: notTaken.named, moreNotTaken: notTaken.more }),
        };
        printJson(runtime, { ...report, ...lists, ...found });
      } else runtime.stdout(summarize(report, dryRun));
      const nothing = `nothing ${dryRun ? "would be" : "was"} written`;
      if (report.rejected > 0 && !skipInvalid)
        throw new CommandFailed(`${nothing}: mend these lines, or give --skip-invalid to leave them out`);
      if (report.accepted === 0) throw new CommandFailed(`${nothing}: the file holds no good line`);
    },
    fail() {
      progress.end();
      if (hasWritten)
        runtime.stderr("topupd: a part of the file was written before this; importing it again mends it\n");
    },
  };
}

function summarize(
  { accepted, rejected, passedOver = 0, removed, reorders, revision, ...effects }: ImportReport,
  dryRun: boolean,
): string {
  const { added, changed, unchanged } = effects;
  const counts = [`${added} added`, `${changed} changed`, `${unchanged} unchanged`];
  if (removed !== undefined) counts.push(`${removed} removed`);
  if (reorders === true) counts.push("in another order");
  if (passedOver > 0) counts.push(`${count(passedOver, "subscription")} not taken`);
  const asRevision = revision === undefined ? "" : `, as revision ${revision}`;
  const lines = `${accepted} accepted, ${rejected} rejected${asRevision}`;
  return `${lines}\n${dryRun ? "it would be: " : ""}${counts.join(", ")}\n`;
}

/** A file that holds the top-ups would give them a second time. */
function laidOnTopWords({ laidOnTop = 0 }: ImportReport, dryRun: boolean): string {
  if (laidOnTop === 0) return "";
  const were = `${dryRun ? "would be" : laidOnTop === 1 ? "was" : "were"} laid on top of the file's dates`;
  return `what was topped up here on ${count(laidOnTop, "subscription")} ${were}, since nobody said whether these hold it: give --top-ups included where they do, or --top-ups apart where they do not\n`;
}

function describeRefused({ line, problems }: RejectedLine): string {
  return problems.map(({ field, problem }) => `line ${line}: ${printable(`${field} ${problem}`)}\n`).join("");
}

function describeNotTaken({ line, cuid, service, code }: PassedOverRow): string {
  return printable(
    `line ${line}: ${cuid} ${service} ${code} is not taken: it does not go with what was granted here`,
  ).concat("\n");
}

function describeChange(change: ImportedRow): string {
  const { kind } = change;
  if (change.what === "customer") {
    const parts = change.parts.length === 0 ? "" : `: ${change.parts.join(", ")}`;
    return printable(`line ${change.line}: ${change.cuid} ${kind}${parts}`);
  }
  if (change.what === "transaction") return printable(`line ${change.line}: ${change.txnId} ${kind}`);
  const fields = change.fields.map(({ field, from, to }) => `${field} ${from} -> ${to}`);
  return printable(`${change.service} ${change.code} ${kind}${fields.length === 0 ? "" : `: ${fields.join("; ")}`}`);
}

/** The first ones, and how many more there were: a file may have any number. */
class Some<Item> {
  readonly named: Item[] = [];
  more = 0;

  /** @returns whether it is one of the first. */
  add(item: Item): boolean {
    const isNamed = this.named.length < MOST_NAMED;
    if (isNamed) this.named.push(item);
    else this.more += 1;
    return isNamed;
  }
}

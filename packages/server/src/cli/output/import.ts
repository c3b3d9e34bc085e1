import type { BouquetEffect } from "../../domain/catalogue-effect.ts";
import type { FieldChange } from "../../domain/customer-audit.ts";
import type { ChangedCustomer, HeldBackSubscription, ImportWarning } from "../../services/staff/import-customers.ts";
import type { ImportHooks, LargeChange, RejectedLine } from "../../services/staff/import-file.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { ProgressLine } from "./progress.ts";
import { jsonLine, type OutputOptions, printable } from "./text.ts";

export interface ImportFlags extends OutputOptions {
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
}

/** So many lines of a kind are said, and changes kept for JSON; of the others, there is the number. */
const MOST_SAID = 1_000;
/** Lines between two words of progress. */
const PROGRESS_LINES = 5_000;

/** Tells of an import while it runs: to stderr what is wrong, to stdout what a dry run would change. */
export class ImportOutput {
  readonly hooks: ImportHooks;
  readonly #runtime: Runtime;
  readonly #flags: ImportFlags;
  readonly #progress: ProgressLine;
  /** Of a dry run, for JSON. */
  readonly #changes: object[] = [];
  readonly #said = new Map<string, number>();
  #isWriting = false;

  constructor(runtime: Runtime, flags: ImportFlags) {
    this.#runtime = runtime;
    this.#flags = flags;
    this.#progress = new ProgressLine(runtime);
    this.hooks = {
      onRejected: (line) => this.say("rejected", rejectedWords(line)),
      onProgress: ({ step, lines }) => {
        this.#isWriting = step === "writing";
        if (this.#isWriting || lines % PROGRESS_LINES === 0) this.#progress.show(`${step} ... ${lines} lines`);
      },
    };
  }

  /** Says something that stays, if it is one of the first of its kind. */
  say(kind: string, words: string): void {
    const said = (this.#said.get(kind) ?? 0) + 1;
    this.#said.set(kind, said);
    if (said > MOST_SAID) return;
    this.#progress.end();
    this.#runtime.stderr(words);
  }

  change(data: object, words: string): void {
    const { dryRun, json } = this.#flags;
    if (dryRun !== true) return;
    if (json !== true) this.#runtime.stdout(words);
    else if (this.#changes.length < MOST_SAID) this.#changes.push(data);
  }

  /** @param report what JSON has of it. @param summary in words. */
  conclude(report: object, summary: string): void {
    this.#end();
    const { dryRun = false, json } = this.#flags;
    const data = dryRun ? { ...report, dryRun, changes: this.#changes } : report;
    this.#runtime.stdout(json === true ? jsonLine(data) : `${dryRun ? "would be: " : ""}${summary}\n`);
  }

  /** Nothing was written. */
  refuse(why: string): CommandFailed {
    this.#end();
    return new CommandFailed(why);
  }

  fail(): void {
    this.#end();
    if (this.#isWriting)
      this.#runtime.stderr("topupd: a part of the file may be written; importing it again mends it\n");
  }

  #end(): void {
    this.#progress.end();
    for (const [kind, said] of this.#said)
      if (said > MOST_SAID) this.#runtime.stderr(`and ${said - MOST_SAID} more lines: ${kind}\n`);
    this.#said.clear();
  }
}

function rejectedWords({ line, problems }: RejectedLine): string {
  return problems.map(({ field, problem }) => `line ${line}: ${printable(`${field} ${problem}`)}\n`).join("");
}

export function customerWords({ line, cuid, kind, changes }: ChangedCustomer): string {
  return changeWords(`line ${line}: ${cuid} ${kind}`, changes);
}

export function bouquetWords({ service, code, kind, fields }: BouquetEffect): string {
  return changeWords(`${service} ${code} ${kind}`, fields);
}

/** Each changed value, before and after. */
function changeWords(title: string, changes: readonly FieldChange[]): string {
  const values = changes.map(({ field, from, to }) => `  ${field}: ${from ?? "nothing"} -> ${to ?? "nothing"}`);
  return [title, ...values].map((each) => `${printable(each)}\n`).join("");
}

/** Names the two ends and what to do. */
export function heldBackWords(held: HeldBackSubscription): string {
  const { line, cuid, service, reqId, kept, statedEnd, txnId } = held;
  const file = statedEnd === undefined ? "the file does not have it" : `the file ends it ${statedEnd}`;
  const what = txnId === undefined ? "goodwill" : `top-up ${txnId}`;
  return printable(
    `line ${line}: ${cuid} ${service} ${reqId} ${kept.bouquet.code} is held back: ${file}, ${what} runs to ${kept.end}. ` +
      `Correct the file, or reverse it and import records of after that (or --allow-shorter ${cuid})`,
  ).concat("\n");
}

export function warningWords({ line, cuid, service, reqId }: ImportWarning): string {
  return printable(
    `line ${line}: ${cuid} ${service} ${reqId} is stated inactive, but a subscription of it runs, so it stays active: ` +
      'to stop it, state it "blocked"',
  ).concat("\n");
}

export function largeChangeWords(changes: readonly LargeChange[]): string {
  const parts = changes.map(({ what, count, of }) => `${count} of ${of} ${what.replaceAll("_", " ")}`);
  return `nothing was written, since that would be ${parts.join(" and ")}. If it is meant, give --allow-large-change`;
}

/** Of a bouquet whose plan or kind changes, which reaches what was bought before; undefined of any other. */
export function reachWords({ service, code, fields }: BouquetEffect): string | undefined {
  const changed = fields.find(({ field }) => field === "plan" || field === "add-on");
  if (changed === undefined) return undefined;
  const what = changed.field === "plan" ? "is of another plan now" : "is an add-on now, or none any more";
  const plan = `"plan": ${JSON.stringify(changed.field === "plan" ? changed.from : "another one")}`;
  const todo = changed.field === "plan" ? "to keep renewals with what was bought" : "to leave what was bought as it is";
  return printable(`warning: ${service} ${code} ${what}: ${todo}, name ${plan} in the row`).concat("\n");
}

export function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, number]) => `${number} ${what}`)
    .join(", ");
}

import type { BouquetEffect } from "../../../domain/catalogue-file.ts";
import type { FieldChange } from "../../../domain/customer-audit.ts";
import { count, printable } from "../../../office/text.ts";
import type { ChangedCustomer, HeldBackSubscription, ImportWarning } from "../../../services/staff/import-customers.ts";
import {
  type ImportHooks,
  type LargeChange,
  largeChangeText,
  type RejectedLine,
} from "../../../services/staff/import-file.ts";
import type { Session } from "../command.ts";
import { progressLine } from "../progress.ts";

/** So many lines of a kind are said, and changes kept for JSON; of the others, there is the number. */
const MOST_SAID = 1_000;

/** Tells of an import while it runs: to stderr what is wrong, to stdout what a dry run would change. */
export class ImportOutput {
  readonly hooks: ImportHooks;
  readonly progress: ReturnType<typeof progressLine>;
  readonly #session: Session;
  readonly #isDryRun: boolean;
  /** Of a dry run, for JSON. */
  readonly #changes: object[] = [];
  readonly #said = new Map<string, number>();
  #isWriting = false;

  constructor(session: Session, isDryRun: boolean) {
    this.#session = session;
    this.#isDryRun = isDryRun;
    this.progress = progressLine(session.runtime);
    this.hooks = {
      onRejected: (line) => this.say("rejected", rejectedWords(line)),
      onProgress: ({ step, lines }) => {
        this.#isWriting = step === "writing";
        this.progress.show(`${step} ... ${lines} lines`);
      },
    };
  }

  /** Says a line on stderr, if it is one of the first of its kind. */
  say(kind: string, words: string): void {
    const said = (this.#said.get(kind) ?? 0) + 1;
    this.#said.set(kind, said);
    if (said > MOST_SAID) return;
    this.progress.clear();
    this.#session.runtime.stderr(words);
  }

  /** @param words are put together only if they are shown. */
  change(data: object, words: () => string): void {
    if (!this.#isDryRun) return;
    this.progress.clear();
    if (!this.#session.isJson) this.#session.runtime.stdout(words());
    else if (this.#changes.length < MOST_SAID) this.#changes.push(data);
  }

  /** @param report what JSON has of it. @param summary in words. */
  conclude(report: object, summary: string): void {
    this.#tellOfUnsaid();
    const data = this.#isDryRun ? { ...report, dryRun: true, changes: this.#changes } : report;
    this.#session.show(data, `${this.#isDryRun ? "would be: " : ""}${summary}\n`);
  }

  fail(): void {
    this.#tellOfUnsaid();
    if (this.#isWriting)
      this.#session.runtime.stderr("topupd: a part of the file may be written; importing it again mends it\n");
  }

  #tellOfUnsaid(): void {
    for (const [kind, said] of this.#said)
      if (said > MOST_SAID) this.#session.runtime.stderr(`and ${said - MOST_SAID} more lines: ${kind}\n`);
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
  const { line, cuid, service, reqId, bouquetCode, keptEnd, statedEnd, txnId, goodwillDays, goodwill } = held;
  const which = `line ${line}: ${cuid} ${service} ${reqId} ${bouquetCode}`;
  if (goodwill !== undefined) {
    const given = `${count(goodwill.days, "day")} of goodwill, given ${goodwill.at.slice(0, 10)}`;
    const [ifHeld, ifLacking] = [statedEnd, goodwill.lackingEnd].map((end) => end ?? "at once");
    const file = `the file ends it ${ifHeld} if its records hold that, ${ifLacking} if they lack it`;
    const here = keptEnd === undefined ? "" : `; here it runs to ${keptEnd}`;
    const todo = "Say which: --goodwill held or lacking, or the row's own field goodwill";
    return `${printable(`${which} is held back, goodwill unclear (${given}): ${file}${here}. ${todo}`)}\n`;
  }
  const file = statedEnd === undefined ? "the file does not have it" : `the file ends it ${statedEnd}`;
  const isLost = `${which} is held back: ${file}`;
  if (goodwillDays !== undefined) {
    const todo = `If the records lack goodwill, give --goodwill lacking; else correct the file (or --allow-shorter ${cuid})`;
    return `${printable(`${isLost}, ${count(goodwillDays, "day")} of goodwill run to ${keptEnd}. ${todo}`)}\n`;
  }
  const what = txnId === undefined ? "goodwill" : `top-up ${txnId}`;
  const todo = `Correct the file, or reverse the ${txnId === undefined ? "goodwill" : "top-up"} and import records of after that (or --allow-shorter ${cuid})`;
  return `${printable(`${isLost}, ${what} runs to ${keptEnd}. ${todo}`)}\n`;
}

export function warningWords({ line, cuid, service, reqId }: ImportWarning): string {
  const stated = printable(`line ${line}: ${cuid} ${service} ${reqId} is stated inactive`);
  return `${stated}, but a subscription of it runs, so it stays active: to stop it, state it "blocked"\n`;
}

export function largeChangeWords(changes: readonly LargeChange[]): string {
  return `nothing was written, since that would be ${largeChangeText(changes)}. If it is meant, give --allow-large-change`;
}

/** Of a bouquet whose plan or kind changes, which reaches what was bought before; undefined of any other. */
export function reachWords({ service, code, fields }: BouquetEffect): string | undefined {
  const changed = fields.find(({ field }) => field === "plan" || field === "add-on");
  if (changed === undefined) return undefined;
  const [what, todo, plan] =
    changed.field === "plan"
      ? ["is of another plan now", "to keep renewals with what was bought", changed.from]
      : ["is an add-on now, or none any more", "to leave what was bought as it is", "another one"];
  return `${printable(`warning: ${service} ${code} ${what}: ${todo}, name "plan": ${JSON.stringify(plan)} in the row`)}\n`;
}

export function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, number]) => `${number} ${what}`)
    .join(", ");
}

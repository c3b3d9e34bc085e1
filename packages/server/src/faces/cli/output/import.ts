import type { ChangedCustomer, HeldBackSubscription, ImportWarning } from "../../../office/imports/customers.ts";
import { type ImportHooks, MOST_SAID } from "../../../office/imports/file.ts";
import { changeWords, rejectedWords } from "../../../office/imports/words.ts";
import { Refused } from "../../../office/refused.ts";
import { count, printable } from "../../../office/text.ts";
import type { Session } from "../command.ts";
import { progressLine } from "../progress.ts";

/** Shows an import while it runs: problems on stderr, changes of a preview on stdout. */
export class ImportOutput {
  readonly hooks: ImportHooks;
  readonly progress: ReturnType<typeof progressLine>;
  readonly #session: Session;
  readonly #isPreview: boolean;
  /** Changes of a preview, for JSON. */
  readonly #changes: object[] = [];
  readonly #said = new Map<string, number>();
  #isWriting = false;

  constructor(session: Session, isPreview: boolean) {
    this.#session = session;
    this.#isPreview = isPreview;
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
    if (!this.#isPreview) return;
    this.progress.clear();
    if (!this.#session.isJson) this.#session.runtime.stdout(words());
    else if (this.#changes.length < MOST_SAID) this.#changes.push(data);
  }

  /** @param report what JSON has of it. @param summary in words. */
  conclude(report: object, summary: string): void {
    this.#tellOfUnsaid();
    const data = this.#isPreview ? { ...report, preview: true, changes: this.#changes } : report;
    this.#session.show(data, `${this.#isPreview ? "would be: " : ""}${summary}\n`);
  }

  fail(error: unknown): void {
    this.#tellOfUnsaid();
    const isRefused = error instanceof Refused && error.code === "invalid";
    if (this.#isWriting && !isRefused)
      this.#session.runtime.stderr("topupd: a part of the file may be written: import it again\n");
  }

  #tellOfUnsaid(): void {
    for (const [kind, said] of this.#said)
      if (said > MOST_SAID) this.#session.runtime.stderr(`and ${said - MOST_SAID} more lines: ${kind}\n`);
  }
}

export function customerWords({ line, cuid, kind, changes }: ChangedCustomer): string {
  return changeWords(`line ${line}: ${cuid} ${kind}`, changes);
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

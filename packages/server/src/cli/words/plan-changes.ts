import type { ImportedRow } from "../../operations/import-report.ts";
import { count, printable } from "./text.ts";

/** Of the bouquets that go to another plan, so many are named. */
const MOST_NAMED = 10;

/**
 * The bouquets of a catalogue that go from one plan to another. A row that names no plan has one from its name, so
 * that a corrected spelling is enough; and renewals no longer extend what was bought before.
 */
export class PlanChanges {
  readonly #named: string[] = [];
  #example = "";
  #more = 0;

  add(change: ImportedRow): void {
    if (change.what !== "bouquet") return;
    const plan = change.fields.find(({ field }) => field === "plan");
    if (plan === undefined) return;
    const [from, to] = [plan.from, plan.to].map((name) => JSON.stringify(name));
    if (this.#named.length === 0) this.#example = `"plan": ${from}`;
    if (this.#named.length < MOST_NAMED) this.#named.push(`${change.service} ${change.code}: plan ${from} -> ${to}`);
    else this.#more += 1;
  }

  /** A warning in lines of its own; empty where there is none. */
  describe(): string {
    if (this.#named.length === 0) return "";
    const more = this.#more > 0 ? [`and ${count(this.#more, "more bouquet")} with another plan`] : [];
    const warning =
      "warning: with another plan, a bouquet does not extend the subscriptions bought so far: their renewal begins a " +
      `second subscription beside them; name the former plan in the row (${this.#example}) to keep them together`;
    return [...this.#named, ...more, warning].map((line) => `${printable(line)}\n`).join("");
  }
}

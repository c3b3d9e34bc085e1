import type { ImportedRow } from "../../operations/import-report.ts";
import { count, printable } from "./text.ts";

/** Of the bouquets that change so, so many are named. */
const MOST_NAMED = 10;

/**
 * The bouquets of a catalogue whose change reaches what was bought before. A row that names no plan has one from its
 * name, and is an add-on by its name, so that a corrected spelling is enough.
 */
export class PlanChanges {
  readonly #moved = new SomeLines("with another plan");
  readonly #turned = new SomeLines("that are add-ons now, or no longer");
  #example = "";

  add(change: ImportedRow): void {
    if (change.what !== "bouquet") return;
    const bouquet = `${change.service} ${change.code}`;
    for (const { field, from, to } of change.fields) {
      if (field === "plan") {
        this.#example ||= `"plan": ${JSON.stringify(from)}`;
        this.#moved.add(`${bouquet}: plan ${JSON.stringify(from)} -> ${JSON.stringify(to)}`);
      } else if (field === "add-on")
        this.#turned.add(`${bouquet}: ${from === "yes" ? "an add-on -> none" : "no add-on -> an add-on"}`);
    }
  }

  /** Warnings in lines of their own; empty where there is none. */
  describe(): string {
    return [
      ...this.#moved.followedBy(
        "warning: with another plan, a bouquet does not extend the subscriptions bought so far: their renewal begins a " +
          `second subscription beside them; name the former plan in the row (${this.#example}) to keep them together`,
      ),
      ...this.#turned.followedBy(
        "warning: a subscription is an add-on where the bouquet that renews it is one: whoever has no other plan is then " +
          "offered no add-ons any more; name another plan in the row to leave the subscriptions bought so far as they are",
      ),
    ]
      .map((line) => `${printable(line)}\n`)
      .join("");
  }
}

class SomeLines {
  readonly #named: string[] = [];
  readonly #what: string;
  #more = 0;

  constructor(what: string) {
    this.#what = what;
  }

  add(line: string): void {
    if (this.#named.length < MOST_NAMED) this.#named.push(line);
    else this.#more += 1;
  }

  followedBy(warning: string): string[] {
    if (this.#named.length === 0) return [];
    const more = this.#more > 0 ? [`and ${count(this.#more, "more bouquet")} ${this.#what}`] : [];
    return [...this.#named, ...more, warning];
  }
}

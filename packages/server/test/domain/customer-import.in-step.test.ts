import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, MONTHLY, QUARTERLY, RUNS, SECOND_MS, UTC } from "./builders.ts";
import { fileWith, ProviderWorld } from "./provider-world.ts";

const START = at("2026-01-10");

/** What happens between a service and a provider whose records are right, but late. */
type Event =
  | "month topped up"
  | "quarter topped up"
  | "day given"
  | "top-ups taken in"
  | "one top-up taken in"
  | "file sent again";

/** The provider's records: what it gave itself, and the top-ups that it has taken in. */
class Provider {
  #days = 0;
  #takenIn = 0;
  #pending: number[] = [];

  learnOf(months: number): void {
    this.#pending.push(months);
  }

  giveDay(): void {
    this.#days += 1;
  }

  takeIn(count = this.#pending.length): void {
    for (const months of this.#pending.splice(0, count)) this.#takenIn += months;
  }

  file() {
    return fileWith(START, UTC.add(START, { months: 1 + this.#takenIn, days: this.#days, seconds: 0 }));
  }
}

/** The service and the provider after the events, and a last file that has everything in it. */
function play(events: readonly Event[]): { readonly shown: string | undefined; readonly recorded: string } {
  const world = new ProviderWorld();
  const provider = new Provider();
  let now = START;
  const send = () => {
    now += SECOND_MS;
    world.import(provider.file(), now);
  };
  send();
  for (const event of events) {
    now += SECOND_MS;
    if (event === "month topped up" || event === "quarter topped up") {
      const bouquet = event === "month topped up" ? MONTHLY : QUARTERLY;
      world.topUp("fiber1", now, bouquet);
      provider.learnOf(bouquet.period.months);
      continue;
    }
    if (event === "day given") provider.giveDay();
    if (event === "top-ups taken in") provider.takeIn();
    if (event === "one top-up taken in") provider.takeIn(1);
    send();
  }
  provider.takeIn();
  send();
  const [recorded] = provider.file().connections.flatMap(({ subscriptions }) => subscriptions);
  return { shown: world.endOf("fiber1"), recorded: UTC.format(recorded?.end ?? 0).slice(0, 10) };
}

describe("records that take top-ups in late", () => {
  test("and the service come to the same end, with every period given once", () => {
    const anyEvent = fc.constantFrom<Event>(
      "month topped up",
      "quarter topped up",
      "day given",
      "top-ups taken in",
      "one top-up taken in",
      "file sent again",
    );
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 10 }), (events) => {
        const { shown, recorded } = play(events);
        expect(shown).toBe(recorded);
      }),
      RUNS,
    );
  });
});

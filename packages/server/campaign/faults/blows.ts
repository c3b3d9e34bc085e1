import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../fleet.ts";
import type { Choices } from "../random.ts";

/** A fault that strikes services under load, and is over when `strike` resolves. */
export interface Blow {
  /** Plural that a report has after its number: "kills". */
  readonly name: string;
  /** @returns how often it struck. */
  readonly strike: (fleet: Fleet, choices: Choices) => Promise<number>;
}

/** Faults last for seconds: faster partners would only make more to ask for afterwards. */
export const PAUSE_MS = 200;

const STRIKES_WITHIN_MS = 5_000;

/** Waits until a fault that was ordered has struck. @returns whether it has, within some seconds. */
export async function untilStruck(hasStruck: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < STRIKES_WITHIN_MS && !hasStruck(); waited += 10) await sleep(10);
  return hasStruck();
}

export const KILL: Blow = {
  name: "kills",
  strike: (fleet, choices) => fleet.kill(choices.below(fleet.clients.length), choices),
};

/** A server that can be ended and started again. */
export interface Restartable {
  readonly stop: (mode: "immediate" | "fast") => Promise<void>;
  readonly start: () => Promise<void>;
}

export function restartOf(server: Restartable): Blow {
  return {
    name: "restarts of PostgreSQL",
    async strike(_, choices) {
      await server.stop(choices.of(["immediate", "fast"] as const));
      await sleep(choices.below(300));
      await server.start();
      return 1;
    },
  };
}

/** Counts of blows: "2 faults (2 kills, 0 restarts)". */
export class Struck {
  readonly #counts: Map<string, number>;

  constructor(blows: readonly Blow[]) {
    this.#counts = new Map(blows.map(({ name }) => [name, 0]));
  }

  add(name: string, times: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  text(): string {
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return `${all} faults (${[...this.#counts].map(([name, count]) => `${count} ${name}`).join(", ")})`;
  }
}

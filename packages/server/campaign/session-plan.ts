import type { Choices } from "./random.ts";
import type { Moment } from "./session-moments.ts";

/** The ways through a session's connection. */
export type Way = "to_server" | "to_client";
export type Ways = Way | "both";

/** What happens to one session. */
export type Deed =
  /** A side that is not told hears nothing any more. */
  | { readonly kind: "reset"; readonly told: Ways }
  | { readonly kind: "half_close"; readonly way: Way }
  /** What is sent meanwhile is delivered when it ends, though the sender may have left by then. */
  | { readonly kind: "silence"; readonly ways: Ways; readonly ms: number | "for_good" }
  /** PostgreSQL ends the session in its own words, and the client hears all of it, or not that the connection ends. */
  | { readonly kind: "terminate"; readonly isEndHeard: boolean }
  | { readonly kind: "cancel" };

/** A deed, and to which session it is done: one that comes to the moment after so many others. */
export interface Fault {
  readonly moment: Moment;
  /** Of the message by which the moment is known. */
  readonly place: "before" | "within" | "after";
  readonly skip: number;
  /** Where fresh sessions are needed, the process keeps the one on which it watches, and so need not think the server away. */
  readonly isWatchSpared: boolean;
  /** To so many sessions, one after the other. */
  readonly times: number;
  readonly deed: Deed;
}

/** What somebody does who is a superuser of PostgreSQL, or of the machine it runs on. */
export type StaffDeed =
  | { readonly kind: "terminate"; readonly whose: "all" | "busy" | "one" }
  | { readonly kind: "cancel" }
  | { readonly kind: "limit"; readonly sessions: number; readonly ms: number }
  | { readonly kind: "restart"; readonly mode: "immediate" | "fast"; readonly ms: number };

export interface RoundPlan {
  readonly faults: readonly { readonly atMs: number; readonly process: number; readonly fault: Fault }[];
  /** One after the other. */
  readonly staff: readonly { readonly pauseMs: number; readonly deed: StaffDeed }[];
}

/** Only fresh sessions come to these. */
const OF_FRESH: readonly Moment[] = ["startup", "authentication", "set_up", "set_up_answer", "listen"];
const MOMENTS: readonly Moment[] = [
  ...OF_FRESH,
  ...(["idle", "watch", "look_up", "begin", "lock", "load", "write", "commit", "committed", "roll_back"] as const),
];
/** From what nobody notices to what outlasts every wait for an answer. */
const SILENCES = [150, 1_000, 2_500, 4_500, 8_000] as const;

const WAYS = ["to_server", "to_client", "both"] as const;
/** Silences that end take the time they are given with each fault. */
const DEEDS: readonly Deed[] = [
  ...WAYS.map((told): Deed => ({ kind: "reset", told })),
  ...(["to_server", "to_client"] as const).map((way): Deed => ({ kind: "half_close", way })),
  ...WAYS.map((ways): Deed => ({ kind: "silence", ways, ms: "for_good" })),
  ...WAYS.map((ways): Deed => ({ kind: "silence", ways, ms: 0 })),
  ...[true, false].map((isEndHeard): Deed => ({ kind: "terminate", isEndHeard })),
  { kind: "cancel" },
];
const ALL = MOMENTS.flatMap((moment) => DEEDS.map((deed) => ({ moment, deed })));

/** Whether the sessions that a process has must go, so that there is one that comes to the moment. */
export function needsFresh({ moment }: Fault): boolean {
  return OF_FRESH.includes(moment);
}

/** As reports name it. */
export function nameOf(deed: Deed): string {
  switch (deed.kind) {
    case "reset":
      return `reset, told ${deed.told}`;
    case "half_close":
      return `half-close ${deed.way}`;
    case "silence":
      return `${deed.ms === "for_good" ? "silence for good" : "silence"} ${deed.ways}`;
    case "terminate":
      return deed.isEndHeard ? "terminate" : "terminate, end unheard";
    case "cancel":
      return "cancel";
  }
}

/**
 * In a round. What one session was stuck with ends with the next trouble that makes the process part with all of them; where
 * there is little, it stays. Where there is much, one meets another.
 */
const FAULTS = [2, 3, 4, 6, 12] as const;
const STAFF_DEEDS = [0, 0, 0, 1, 2] as const;

export interface TroubleSize {
  readonly processes: number;
  /** The trouble of a round. */
  readonly lastsMs: number;
}

/**
 * Plans what happens in each round. The same choices make the same plans. Every deed is done at every moment before
 * any is done there again.
 */
export class Troubles {
  readonly #choices: Choices;
  readonly #size: TroubleSize;
  #left: typeof ALL = [];

  constructor(choices: Choices, size: TroubleSize) {
    this.#choices = choices;
    this.#size = size;
  }

  next(): RoundPlan {
    const { processes, lastsMs } = this.#size;
    const faults = Array.from({ length: this.#choices.of(FAULTS) }, () => ({
      atMs: this.#choices.below(lastsMs),
      process: this.#choices.below(processes),
      fault: this.#fault(),
    }));
    const staff = Array.from({ length: this.#choices.of(STAFF_DEEDS) }, () => ({
      pauseMs: this.#choices.below(lastsMs >> 2),
      deed: planStaffDeed(this.#choices, lastsMs),
    }));
    return { faults, staff };
  }

  #fault(): Fault {
    const { moment, deed } = this.#draw();
    const ms = this.#choices.of(SILENCES);
    return {
      moment,
      place: this.#choices.of(["before", "within", "after"] as const),
      skip: this.#choices.below(3),
      isWatchSpared: moment !== "listen" && this.#choices.below(3) > 0,
      times: 1 + this.#choices.below(3),
      deed: deed.kind === "silence" && deed.ms === 0 ? { ...deed, ms } : deed,
    };
  }

  #draw(): (typeof ALL)[number] {
    if (this.#left.length === 0) this.#left = [...ALL];
    return this.#left.splice(this.#choices.below(this.#left.length), 1)[0] as (typeof ALL)[number];
  }
}

function planStaffDeed(choices: Choices, lastsMs: number): StaffDeed {
  switch (choices.below(6)) {
    case 0:
      return { kind: "restart", mode: choices.of(["immediate", "fast"] as const), ms: choices.below(lastsMs >> 2) };
    case 1:
      return { kind: "limit", sessions: choices.below(6), ms: choices.below(lastsMs >> 1) };
    case 2:
      return { kind: "cancel" };
    default:
      return { kind: "terminate", whose: choices.of(["all", "busy", "one"] as const) };
  }
}

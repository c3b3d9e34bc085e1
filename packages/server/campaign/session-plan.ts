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
const OF_ALL: readonly Moment[] = [
  "idle",
  "look_up",
  "begin",
  "lock",
  "load",
  "write",
  "commit",
  "committed",
  "roll_back",
  "watch",
];
const WAYS: readonly Ways[] = ["to_server", "to_client", "both"];
/** From what nobody notices to what outlasts every wait for an answer. */
const SILENCES = [150, 1_000, 2_500, 4_500, 8_000, "for_good", "for_good"] as const;

/** Whether the sessions that a process has must go, so that there is one that comes to the moment. */
export function needsFresh({ moment }: Fault): boolean {
  return OF_FRESH.includes(moment);
}

/** What happens in a round that lasts so long. The same choices make the same plan. */
export function planRound(choices: Choices, processes: number, lastsMs: number): RoundPlan {
  const faults = Array.from({ length: 4 + choices.below(5) }, () => ({
    atMs: choices.below(lastsMs),
    process: choices.below(processes),
    fault: planFault(choices),
  }));
  const staff = Array.from({ length: choices.below(3) }, () => ({
    pauseMs: choices.below(lastsMs >> 2),
    deed: planStaffDeed(choices, lastsMs),
  }));
  return { faults, staff };
}

function planFault(choices: Choices): Fault {
  return {
    moment: choices.of(choices.of([OF_FRESH, OF_ALL])),
    place: choices.of(["before", "within", "after"] as const),
    skip: choices.below(4),
    times: 1 + choices.below(3),
    deed: planDeed(choices),
  };
}

function planDeed(choices: Choices): Deed {
  switch (choices.below(8)) {
    case 0:
    case 1:
      return { kind: "reset", told: choices.of(WAYS) };
    case 2:
      return { kind: "half_close", way: choices.of(["to_server", "to_client"] as const) };
    case 3:
    case 4:
      return { kind: "terminate", isEndHeard: choices.below(2) === 0 };
    case 5:
      return { kind: "cancel" };
    default:
      return { kind: "silence", ways: choices.of(WAYS), ms: choices.of(SILENCES) };
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

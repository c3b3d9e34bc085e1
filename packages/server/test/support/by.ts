import type { Attribution } from "../../src/domain/audit.ts";

/** A change that somebody made at a time. */
export function by(at: number): Attribution {
  return { author: "tester", authority: undefined, at };
}

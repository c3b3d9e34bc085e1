import type { CheckEvent } from "../../store.ts";

/** What is said of rows of which there are to be none. */
export function found(count: number, what: string): CheckEvent {
  return count === 0 ? { kind: "checked", what: `no ${what}`, count: 1 } : { kind: "wrong", what: `${count} ${what}` };
}

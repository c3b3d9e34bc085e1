import { isSetUp, type Message, statementOf } from "../test/support/postgres-messages.ts";

/** Moments in the life of a session of topupd, each known by a message that passes. */
export type Moment =
  | "startup"
  | "authentication"
  | "set_up"
  | "set_up_answer"
  | "listen"
  | "watch"
  | "look_up"
  | "begin"
  | "lock"
  | "load"
  | "write"
  | "commit"
  | "committed"
  | "roll_back"
  /** Known by no message: nothing is asked of the session. */
  | "idle";

const BY_STATEMENT: ReadonlyMap<string | undefined, Moment> = new Map([
  ["begin", "begin"],
  ["customers_lock", "lock"],
  ["connections", "load"],
  ["checkouts", "load"],
  ["watch", "watch"],
  ["commit", "commit"],
  ["topped_up", "write"],
]);
const WRITES = /_(insert|append|upsert|delete)$/;

export function momentToServer(message: Message): Moment | undefined {
  const { type, bytes } = message;
  if (type === "") return "startup";
  if (isSetUp(message)) return "set_up";
  if (type === "Q") {
    if (bytes.includes("LISTEN ")) return "listen";
    if (bytes.includes("COMMIT")) return "commit";
    return bytes.includes("ROLLBACK") ? "roll_back" : undefined;
  }
  const name = type === "B" ? statementOf(message) : "";
  if (name === "" || name === undefined) return undefined;
  return BY_STATEMENT.get(name) ?? (WRITES.test(name) ? "write" : "look_up");
}

/** @param isFirstRow of the session: what its set-up asks for. */
export function momentToClient({ type, bytes }: Message, isFirstRow: boolean): Moment | undefined {
  if (type === "R") return "authentication";
  if (type === "D" && isFirstRow) return "set_up_answer";
  return type === "C" && bytes.toString("latin1", 5) === "COMMIT\0" ? "committed" : undefined;
}

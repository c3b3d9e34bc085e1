import { Type } from "typebox";
import type { Subscription } from "../domain/subscription.ts";
import { WallTimeSchema } from "./common.ts";

/* Connections and their subscriptions, as operations name and answer them. */

/** A code of a customer's or a connection's: no database takes every control character. */
export const CodeSchema = Type.String({ minLength: 1, maxLength: 64, pattern: "^\\P{Cc}+$" });

export const PlanSchema = Type.String({
  ...{ minLength: 1, maxLength: 200, pattern: "^\\P{Cc}+$" },
  description: "Which plan, where several may be meant.",
});

export const RunSchema = Type.Object(
  { bouquetId: Type.String(), name: Type.String(), start: WallTimeSchema, end: WallTimeSchema },
  { title: "Run", description: "What a ledger came to." },
);

/** A subscription, as answers have it. */
export function runOf(subscription: Pick<Subscription, "bouquet" | "start" | "end"> | undefined) {
  if (subscription === undefined) return null;
  const { bouquet, start, end } = subscription;
  return { bouquetId: bouquet.code, name: bouquet.name, start, end };
}

/** The end before and after a change, for a terminal. @param what changed it, if that is not clear. */
export function runLines({ before, after }: Effect, what = ""): [name: string, value: string][] {
  const words = (run: Effect["before"]) => (run === null ? "none" : `ends ${run.end}`);
  return [
    [`before${what}`, words(before)],
    [`after${what}`, words(after)],
  ];
}

interface Effect {
  readonly before: { readonly end: string } | null;
  readonly after: { readonly end: string } | null;
}

import type { Static, TObject, TSchema } from "typebox";
import { Value } from "typebox/value";
import { expect } from "vitest";
import { Jobs } from "../../src/office/jobs.ts";
import { type Actor, type Db, type Desk, perform } from "../../src/office/office.ts";
import type { AnswerOf, Operation } from "../../src/office/operation.ts";
import { Refused } from "../../src/office/refused.ts";
import type { Engine } from "../../src/store/engine.ts";
import type { Ports } from "../../src/store/ports.ts";
import { seededRandom } from "./random.ts";

/* Operations as both faces run them. */

/** What a face gives operations. Its engine checks the order of locks. */
export function deskOf(
  { store, clock, random = seededRandom(9) }: Pick<Ports, "store" | "clock"> & Partial<Pick<Ports, "random">>,
  actor: Actor = { name: "maya" },
  more: Partial<Desk> = {},
): Desk {
  return {
    ...({ accounts: undefined, targets: undefined } as unknown as Pick<Desk, "accounts" | "targets">),
    ...{ store: { ...store, engine: ordered(store.engine) }, clock, random, actor, jobs: new Jobs() },
    goOn: (work) => work(new AbortController().signal),
    progress() {},
    giveWay() {},
    sleep: async () => {},
    ...more,
  };
}

/** Runs an operation, and holds its answer against its schema, with no field more. */
export async function run<Input extends TObject, Answer extends TSchema | undefined>(
  desk: Desk,
  operation: Operation<Input, Answer>,
  input: Static<Input>,
): Promise<AnswerOf<Answer>> {
  const answer = await perform(operation as unknown as Operation, desk, input as object);
  const { answer: schema } = operation;
  if (schema !== undefined && !("rows" in schema)) expect(Value.Errors(closed(schema), answer)).toEqual([]);
  return answer as AnswerOf<Answer>;
}

/** Why an operation is refused: its code, words and problems. @throws if it is not refused. */
export async function refusal(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Refused)) throw error ?? new Error("it is not refused");
  const { code, problems } = error;
  return { code, words: error.words((field, value = "") => `--${field} ${value}`.trim()), problems };
}

/** The same schema, in which no object has a field that it does not name. */
function closed(schema: TSchema): TSchema {
  const parts = Object.entries(schema as object).map(([name, part]: [string, unknown]) => [
    name,
    closedPart(name, part),
  ]);
  const isObject = (schema as { type?: string }).type === "object" && "properties" in schema;
  const open = { ...(isObject && { additionalProperties: false }) };
  return { ...(Object.fromEntries(parts) as object), ...open } as TSchema;
}

function closedPart(name: string, part: unknown): unknown {
  if (name === "items") return closed(part as TSchema);
  if (name === "anyOf") return (part as TSchema[]).map(closed);
  if (name !== "properties") return part;
  return Object.fromEntries(Object.entries(part as object).map(([field, each]) => [field, closed(each as TSchema)]));
}

const ORDER = ["lockCustomers", "lockAuditTrail", "lockEvents"] as const;

/** An engine that refuses locks in any other order than customers, audit trail, events. */
export function ordered(engine: Engine): Engine {
  const taken = new WeakMap<Db, number>();
  const locks = ORDER.map((name, rank) => {
    const lock = engine[name] as (tx: Db, ...rest: unknown[]) => Promise<void>;
    const inOrder = (tx: Db, ...rest: unknown[]) => {
      if ((taken.get(tx) ?? 0) > rank) throw new Error(`${name} after ${ORDER[taken.get(tx) ?? 0]}`);
      taken.set(tx, rank);
      return lock(tx, ...rest);
    };
    return [name, inOrder] as const;
  });
  return { ...engine, ...Object.fromEntries(locks) };
}

import { type Static, Type } from "typebox";
import { type BulkOrder, bulkAnnounced, type Correcting } from "../../domain/correction.ts";
import { type ConnectionKey, withHead } from "../../domain/customer.ts";
import { eventOf, type NewEvent } from "../../domain/event.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { Engine } from "../../store/engine.ts";
import { ENVIRONMENT, environmentOf, runOf } from "../common.ts";
import { blockEvents, writeBlock } from "../corrections/sql.ts";
import type { Job } from "../jobs.ts";
import { correctingBy, type Db, decide, type Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import {
  type BulkEffect,
  type BulkProblem,
  decidePortion,
  lineOf,
  listSegments,
  PORTION,
  planBulk,
  problemOf,
} from "./plan.ts";
import { BulkPreviewSchema, BulkRequestSchema, BulkRunSchema, MOST_SHOWN, SegmentsSchema } from "./schemas.ts";

/* One correction of many connections of one environment. */

const AS = { tag: "Bulk corrections", permission: "correct" } as const;
const KIND = "bulk correction";
/** Largest body in bytes. The most lines, each of the greatest length, fit. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;
const IdSchema = Type.String({ maxLength: 64, description: "The id of a bulk correction." });

interface Progress {
  readonly action: BulkOrder["action"];
  readonly failed: readonly BulkProblem[];
}

export const showSegments = operation({
  ...AS,
  permission: "read",
  http: "GET /segments",
  summary: "List segments with their numbers of connections",
  input: Type.Object(ENVIRONMENT),
  answer: SegmentsSchema,
  async run(office, input) {
    return { items: await listSegments(office.store.engine.db, await environmentOf(office, input)) };
  },
});

export const previewBulk = operation({
  ...AS,
  http: "POST /bulk/preview",
  changesNothing: true,
  mostBytes: BODY_MAX_BYTES,
  summary: "Preview a bulk correction",
  input: BulkRequestSchema,
  answer: BulkPreviewSchema,
  async run(office, input) {
    const { effects, problems } = await planBulk(office, input);
    const shown = effects.slice(0, MOST_SHOWN).map(({ key: { cuid, service, reqId }, outcome, repeated }) => {
      const { plan = null, before, entry } = outcome.kind === "granted" ? outcome.correction : {};
      return { cuid, service, reqId, plan, before: runOf(before), after: runOf(entry?.after), repeated };
    });
    const problemCount = problems.length;
    return { effects: shown, count: effects.length, problems: problems.slice(0, MOST_SHOWN), problemCount };
  },
});

export const startBulk = operation({
  ...AS,
  http: "POST /bulk",
  status: 202,
  mostBytes: BODY_MAX_BYTES,
  refuses: ["conflict"],
  summary: "Start a bulk correction: it continues after the answer and skips what a preview lists as problems",
  input: BulkRequestSchema,
  answer: BulkRunSchema,
  async run(office, input) {
    const job = await office.jobs.start<Progress>(office, KIND, async () => {
      const { environment, order, effects, problems } = await planBulk(office, input);
      if (effects.length === 0) throw new Refused("conflict", "there is nothing to do: a preview shows why");
      const keys = effects.map(({ key }) => key);
      // The audit trail names all connections before the first is corrected.
      const announced = { write: async () => {}, audit: [bulkAnnounced(order, environment, keys)] };
      await decide(office, [], async () => ({ answer: undefined, change: announced }));
      const progress = { action: order.action, failed: problems };
      return { count: keys.length, result: progress, steps: (later) => correctAll(later, order, keys, progress) };
    });
    return runData(job);
  },
});

/** Corrects each portion in its own transaction, at its own time. */
async function* correctAll(office: Office, order: BulkOrder, keys: readonly ConnectionKey[], progress: Progress) {
  let [done, failed] = [0, progress.failed];
  for (const portion of portionsOf(keys, PORTION)) {
    const now = { ...office, by: { ...office.by, at: office.clock() } };
    failed = [...failed, ...(await correctPortion(now, order, portion))];
    done += portion.length;
    yield { done, result: { ...progress, failed } };
  }
}

/** @returns problems of connections that were not corrected. */
function correctPortion(
  office: Office,
  order: BulkOrder,
  keys: readonly ConnectionKey[],
): Promise<readonly BulkProblem[]> {
  const { engine } = office.store;
  const by = correctingBy(office);
  return decide(office, keys, async (tx) => {
    const effects = await decidePortion(engine, tx, order, keys, by);
    const answer = effects.flatMap((effect) => {
      const problem = problemOf(order, effect);
      return problem === undefined ? [] : [{ line: lineOf(effect.key), problem }];
    });
    const write = async () => {
      for (const effect of effects) await writeEffect(engine, tx, order, effect, by);
    };
    return { answer, change: { write, audit: [], events: effects.flatMap((each) => eventsOf(order, each, by)) } };
  });
}

async function writeEffect(engine: Engine, tx: Db, order: BulkOrder, { key, outcome }: BulkEffect, by: Correcting) {
  if (outcome.kind === "granted") await engine.appendEntry(tx, key, outcome.correction.plan, outcome.correction.entry);
  if (outcome.kind === "done" && outcome.audited !== undefined) await writeBlock(tx, key, order.action === "block", by);
}

function eventsOf(order: BulkOrder, { key, outcome, before }: BulkEffect, by: Correcting): NewEvent[] {
  if (before === undefined) return [];
  if (outcome.kind === "granted") {
    const { plan, entry } = outcome.correction;
    const after = withHead(before, { plan, seq: entry.seq, subscription: entry.after });
    return [eventOf("subscription.changed", by.at.instant, key, after)];
  }
  const isChange = outcome.kind === "done" && outcome.audited !== undefined;
  return isChange ? blockEvents(key, before, order.action === "block", by) : [];
}

export const showBulk = operation({
  ...AS,
  http: "GET /bulk/:id",
  summary: "Show the progress of a bulk correction",
  refuses: ["not_found"],
  input: Type.Object({ id: IdSchema }),
  answer: BulkRunSchema,
  run: async ({ jobs }, { id }) => runData(jobs.find<Progress>(KIND, id)),
});

export const cancelBulk = operation({
  ...AS,
  http: "DELETE /bulk/:id",
  refuses: ["not_found", "conflict"],
  summary: "Cancel a bulk correction: corrections that were made stay",
  input: Type.Object({ id: IdSchema }),
  answer: BulkRunSchema,
  run: async ({ jobs }, { id }) => runData(jobs.cancel<Progress>(KIND, id)),
});

function runData({ id, author, state, done, count, result, problem }: Job<Progress>): Static<typeof BulkRunSchema> {
  const failed = result.failed.map(({ line, problem: why }) => ({ connection: line, problem: why }));
  return { id, action: result.action, author, state, done, count, failed, problem };
}

export const operations: readonly Operation[] = [showSegments, previewBulk, startBulk, showBulk, cancelBulk];

import type { Authority } from "../../domain/authority.ts";
import { type BulkOrder, bulkCorrected, orderOf } from "../../domain/bulk.ts";
import type { Correcting } from "../../domain/correction.ts";
import { withEntry } from "../../domain/customer.ts";
import { eventsBetween, type NewEvent } from "../../domain/event.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import type { BulkLineRow, BulkRunRow } from "../../store/tables.ts";
import { writeBlock } from "../corrections/sql.ts";
import { correctingBy, decide } from "../decide.ts";
import type { Desk } from "../office.ts";
import { endFailed } from "../work.ts";
import { type BulkEffect, decidePortion, keyOf, PORTION, problemOf } from "./plan.ts";
import { PAUSE_MS } from "./read.ts";
import * as sql from "./sql.ts";

/*
 * The work of a running bulk change. Each portion is corrected in one transaction that also moves the place of the run. So
 * several processes may work on a run, and one may end at any time: no connection is corrected twice.
 */

type Ports = Pick<Desk, "store" | "clock" | "sleep" | "progress">;

/** Corrects portions until the run is over or not running, or another process corrects it. */
export async function correctRun(ports: Ports, id: number, ending: AbortSignal): Promise<void> {
  const { db } = ports.store.engine;
  for (;;) {
    const run = await sql.findRun(db, id);
    if (run?.state !== "running" || ending.aborted) return;
    const after = await correctPortion(ports, run).catch((error: unknown) => failRun(ports, run, error));
    ports.progress(`${run.done} of ${run.count}`);
    if (after !== "running") return;
    await ports.sleep(PAUSE_MS, ending);
  }
}

/** Ends a run that cannot continue. @throws StoreUnavailable, because the run continues later. */
export async function failRun({ store, clock }: Pick<Ports, "store" | "clock">, run: BulkRunRow, error: unknown) {
  if (error instanceof StoreUnavailable) throw error;
  const { id, state } = run;
  await endFailed(state, error, (end) =>
    store.engine.transact((tx) => sql.updateRun(tx, { id, state }, { ...end, changedAt: clock() })),
  );
}

/** @returns the state of the run; undefined if it changed meanwhile, so that nothing is corrected. */
async function correctPortion({ store, clock }: Ports, run: BulkRunRow): Promise<BulkRunRow["state"] | undefined> {
  const { engine } = store;
  const order = orderOf(run);
  const lines = await sql.linesAfter(engine.db, run.id, { after: run.place, limit: PORTION, problems: false });
  const state = lines.length < PORTION ? "done" : "running";
  const keys = lines.map((line) => keyOf(run, line));
  // Entries of the trail with the same reason are those of one run.
  const by = { ...attributionOf(run), at: clock(), reason: `bulk ${run.id}: ${run.reason}` };
  const correcting = { ...correctingBy({ by, store }), reason: run.reason };
  return decide({ store, clock, by, isPreview: false }, keys, async (tx) => {
    const effects = await decidePortion(store, tx, order, keys, correcting);
    const problems = effects.map((effect) => problemOf(order, effect) ?? changedSince(run, effect));
    const corrected = effects.filter((_, index) => problems[index] === undefined);
    const isOurs = await sql.updateRun(tx, run, {
      place: lines.at(-1)?.number ?? run.place,
      done: run.done + lines.length,
      problems: run.problems + effects.length - corrected.length,
      state,
      changedAt: by.at,
    });
    if (!isOurs) return { answer: undefined };
    const write = async () => {
      for (const effect of corrected) await writeEffect(engine, tx, order, effect, correcting);
      const outcomes = lines.map((line, index) => ({ ...line, ...outcomeOf(effects[index], problems[index]) }));
      await sql.putLines(tx, outcomes);
    };
    const connections = corrected.map(({ key }) => key);
    const audit = connections.length === 0 ? [] : [bulkCorrected(order, run.environment, connections)];
    const events = corrected.flatMap((each) => eventsOf(order, each, correcting));
    return { answer: state, change: { write, audit, events } };
  });
}

/** The columns of a line after its correction. */
function outcomeOf(effect: BulkEffect | undefined, problem: string | undefined): Partial<BulkLineRow> {
  if (problem !== undefined) return { problem };
  if (effect?.outcome.kind !== "granted") return {};
  const { plan, entry } = effect.outcome.correction;
  return { plan, entry: entry.seq };
}

/** Leaves out a connection that got goodwill from elsewhere: the preview did not show it. */
function changedSince({ action, createdAt }: BulkRunRow, { goodwillAt }: BulkEffect): string | undefined {
  const isGivenTwice = action === "goodwill" && goodwillAt !== undefined && goodwillAt > createdAt;
  return isGivenTwice ? "was given goodwill since the preview" : undefined;
}

function attributionOf({ author, staffId, role, keyHash }: BulkRunRow) {
  let authority: Authority | undefined;
  if (role !== null && keyHash !== null) authority = { keyHash, role };
  if (role !== null && staffId !== null) authority = { staffId, role, sessionId: undefined };
  return { author, authority };
}

async function writeEffect(engine: Engine, tx: Db, order: BulkOrder, { key, outcome }: BulkEffect, by: Correcting) {
  if ("correction" in outcome) await engine.appendEntries(tx, [outcome.correction]);
  if (outcome.kind === "done") await writeBlock(tx, key, order.action === "block", by);
}

function eventsOf(order: BulkOrder, { key, outcome, before }: BulkEffect, by: Correcting): NewEvent[] {
  const after =
    "correction" in outcome ? withEntry(before, outcome.correction) : { ...before, blocked: order.action === "block" };
  return eventsBetween(key, before, after, by.at);
}

import { type Static, Type } from "typebox";
import { heldBackKept } from "../../domain/audit.ts";
import type { Environment } from "../../domain/customer.ts";
import { type CustomerEffect, sharedWords } from "../../domain/customer-audit.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import { plainWords, Refused } from "../../domain/refused.ts";
import { endsRunning } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { WallTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { ENVIRONMENT, environmentOf, numberCursor, oneOf, PAGE, PREVIEW, ReasonSchema, readPage } from "../common.ts";
import { readNames } from "../customer-search.ts";
import { GoodwillReadingSchema, heldBackFields } from "../customers/schemas.ts";
import { atNow, decide } from "../decide.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { type Presenter, presenterOf, transactionData } from "../transactions/presenter.ts";
import { findByTxnIds } from "../transactions/sql.ts";
import { type CustomerImport, importCustomer } from "./customers.ts";
import * as sql from "./runs.ts";
import {
  ExportedHeldBackSchema,
  HELD_BACK_FILTER,
  HeldBackDecisionSchema,
  type HeldBackKind,
  HeldBackListSchema,
  type HeldBackSchema,
} from "./schemas.ts";
import { heldBackAdvice } from "./tally.ts";

/* Subscriptions that customers files held back, and the decisions of staff. */

const READ = { tag: "Imports", permission: "read" } as const;

export const listHeldBack = operation({
  ...READ,
  http: "GET /held-back",
  summary: "List what customers files held back and staff have not decided",
  input: Type.Object({ ...ENVIRONMENT, ...HELD_BACK_FILTER, ...PAGE }),
  answer: HeldBackListSchema,
  async run(office, input) {
    const { db } = office.store.engine;
    const { kind } = input;
    const environment = await environmentOf(office, input);
    const read = (limit: number) => sql.listHeldBack(db, environment, { kind, after: numberCursor(input), limit });
    const { items: found, cursor } = await readPage(input, read, ({ id }) => id);
    const totals = await sql.totalsHeldBack(db, environment);
    const chosen = totals.filter((each) => kind === undefined || each.kind === kind);
    const report = totals.length === 0 ? undefined : await sql.lastReport(db, environment);
    return {
      items: await present(office, environment, found),
      cursor,
      count: chosen.reduce((sum, each) => sum + each.count, 0),
      first: (await sql.listHeldBack(db, environment, { kind, limit: 1 }))[0]?.id ?? null,
      totals,
      advice: report === undefined ? null : heldBackAdvice(report),
    };
  },
});

export const exportHeldBack = operation({
  ...READ,
  http: "GET /held-back.csv",
  summary: "Export what customers files held back and staff have not decided",
  input: Type.Object({ ...ENVIRONMENT, ...HELD_BACK_FILTER }),
  answer: rowsOf(ExportedHeldBackSchema),
  cli: [{ words: "export held-back", examples: ["topupd export held-back --output held-back.csv"] }],
  run: async (office, input) => exported(office, await environmentOf(office, input), input.kind),
});

const ROWS_AT_ONCE = 500;

async function* exported(
  office: Office,
  environment: Environment,
  kind: HeldBackKind | undefined,
): Rows<Static<typeof ExportedHeldBackSchema>> {
  for (let after: number | undefined; ; ) {
    const page = { kind, after, limit: ROWS_AT_ONCE };
    const found = await sql.listHeldBack(office.store.engine.db, environment, page);
    after = found.at(-1)?.id;
    if (after === undefined) return undefined;
    yield (await present(office, environment, found)).map(({ id: _, customer, topUp, goodwill, ...held }) => ({
      ...held,
      customerName: customer === null ? null : `${customer.firstName} ${customer.lastName}`.trim(),
      partner: topUp?.partner ?? null,
      amount: topUp?.amount ?? null,
      lackingEnd: goodwill?.lackingEnd ?? null,
    }));
  }
}

/** Held-back rows with their customers' names and top-ups. */
async function present(
  { store, clock }: Office,
  environment: Environment,
  found: readonly sql.NumberedHeldBack[],
): Promise<Static<typeof HeldBackSchema>[]> {
  const { db } = store.engine;
  const cuids = found.map(({ cuid }) => cuid);
  const txnIds = found.flatMap(({ txnId }) => txnId ?? []);
  const [names, topUps] = [await readNames(db, environment, cuids), await findByTxnIds(db, txnIds)];
  const presenter = await presenterOf({ store, clock }, environment);
  const now = store.provider.zone.wallTime(clock());
  return found.map((held) => {
    const { id, line, cuid, kind } = held;
    const topUp = topUps.get(held.txnId ?? "");
    return {
      ...{ id, line, cuid, kind },
      ...heldBackFields(held),
      customer: names.get(cuid) ?? null,
      topUp: topUp === undefined ? null : topUpData(topUp, presenter),
      endsRunning: wouldEnd(held, now),
    };
  });
}

/** Whether a row ends a running subscription if it is applied; if goodwill is unclear, by either reading. */
function wouldEnd({ keptEnd, statedEnd, goodwill }: HeldBack, now: WallTime): boolean {
  const runTo = (end: WallTime | undefined) => (end === undefined ? undefined : { end });
  const ends = goodwill === undefined ? [statedEnd] : [statedEnd, goodwill.lackingEnd];
  return ends.some((end) => endsRunning(runTo(keptEnd), runTo(end), now));
}

function topUpData(topUp: Transaction, presenter: Presenter) {
  const { partner, amount, txnDate } = transactionData(topUp, presenter, undefined);
  return { partner, amount, txnDate };
}

export const settleHeldBack = operation({
  tag: READ.tag,
  permission: "administer",
  refuses: ["conflict"],
  http: "POST /held-back",
  summary: "Apply the file to customers, each with all their held-back subscriptions, or keep their paid time",
  input: Type.Object({
    ...ENVIRONMENT,
    ...HELD_BACK_FILTER,
    ids: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        ...{ minItems: 1, maxItems: 500 },
        description: "Ids of held-back rows (default: all rows of the filter).",
      }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "Number of rows that the filter showed, required without ids; refused if there is another number.",
      }),
    ),
    first: Type.Optional(
      Type.Integer({
        description: "Id of the first row that the filter showed, required without ids; refused if it is another.",
      }),
    ),
    decision: oneOf(["shorten", "keep"], "shorten: apply the file to the customers; keep: keep the paid time."),
    goodwill: Type.Optional(GoodwillReadingSchema),
    reason: ReasonSchema,
    ...PREVIEW,
  }),
  answer: HeldBackDecisionSchema,
  async run(office, { ids, count, first, kind, decision, goodwill, reason, ...input }) {
    const { engine, provider } = office.store;
    const environment = await environmentOf(office, input);
    const all = await sql.listHeldBack(engine.db, environment, {});
    const isChosen = (each: sql.NumberedHeldBack) =>
      ids === undefined ? kind === undefined || each.kind === kind : ids.includes(each.id);
    const chosen = all.filter(isChosen);
    const isAsShown =
      ids === undefined ? chosen.length === count && chosen[0]?.id === first : chosen.length === new Set(ids).size;
    if (!isAsShown) throw new Refused("conflict", "the list of held-back subscriptions has changed: look at it again");
    const cuids = new Set(chosen.map(({ cuid }) => cuid));
    const shown: ReadonlySet<number> = new Set(all.map(({ id }) => id));
    const isUnclear = (each: HeldBack) => each.goodwill !== undefined;
    const unclear = new Set(all.filter(isUnclear).map(({ cuid }) => cuid));
    const now = provider.zone.wallTime(office.clock());
    // The entries of an import have a reason of their own: a row's number is not used again.
    const applying = { ...office, by: { ...office.by, reason: `held back ${chosen[0]?.id}: ${reason}` } };
    const failures: Static<typeof HeldBackDecisionSchema>["failures"] = [];
    for (const cuid of office.isPreview ? [] : cuids) {
      const reading = unclear.has(cuid) ? goodwill : undefined;
      const done =
        decision === "keep"
          ? keep(office, environment, cuid, shown)
          : applyRow(applying, environment, cuid, shown, reading);
      await done.catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error;
        failures.push({ cuid, problem: plainWords(error) });
      });
    }
    for (const { cuid } of failures) cuids.delete(cuid);
    const held = all.filter(({ cuid }) => cuids.has(cuid));
    return {
      customers: cuids.size,
      subscriptions: held.length,
      endsRunning: held.filter((each) => wouldEnd(each, now)).length,
      goodwillUnclear: held.filter(isUnclear).length,
      failures,
    };
  },
});

/** The rows of a customer. A newer file, whose rows have other ids, must not be decided. @throws Refused */
async function stillHeldBack(db: Db, environment: Environment, cuid: string, shown: ReadonlySet<number>) {
  const rows = await sql.heldBackOf(db, environment, cuid);
  if (rows.length === 0 || !rows.every(({ id }) => shown.has(id)))
    throw new Refused("not_found", "this is not held back any more");
  return rows;
}

function keep(office: Office, environment: Environment, cuid: string, shown: ReadonlySet<number>): Promise<undefined> {
  return decide(atNow(office), [{ environment, cuid }], async (tx) => {
    const all = await stillHeldBack(tx, environment, cuid, shown);
    const ends = all.map(({ service, reqId, plan, keptEnd = null }) => [`${service} ${reqId}: ${plan}`, keptEnd]);
    const audit = [heldBackKept(environment, cuid, Object.fromEntries(ends))];
    return { answer: undefined, change: { write: () => sql.deleteHeldBack(tx, environment, cuid), audit } };
  });
}

/** Applies the whole row of the customer, who is then no longer held back. @throws Refused */
async function applyRow(
  office: Office,
  environment: Environment,
  cuid: string,
  shown: ReadonlySet<number>,
  goodwill: CustomerImport["goodwill"],
): Promise<void> {
  const [found] = await stillHeldBack(office.store.engine.db, environment, cuid, shown);
  const row = readJson(found?.sourceRow ?? "") as JsonObject;
  // The age of the records was checked when the file was imported.
  const request = { environment, row, goodwill, oldRecords: true, allowShorter: true };
  await importCustomer(office, request, async (tx, [effect]) => {
    if (effect !== undefined) refuseUnlessApplied(effect);
    await sql.deleteHeldBack(tx, environment, cuid);
  }).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "invalid") throw error;
    throw new Refused("conflict", `the row cannot be applied any more: ${plainWords(error)}`);
  });
}

/** If one subscription cannot be shortened, none is. @throws Refused */
function refuseUnlessApplied({ shared, isStale, heldBack }: CustomerEffect): void {
  if (shared !== undefined) throw new Refused("conflict", `${shared.reqId} ${sharedWords(shared)} by now`);
  if (isStale)
    throw new Refused("conflict", "records of a later moment were taken for this customer since: keep this one");
  if (heldBack.length > 0)
    throw new Refused("conflict", (name) => {
      return `say whether the file's records hold goodwill: ${name("goodwill", "held")} or ${name("goodwill", "lacking")}`;
    });
}

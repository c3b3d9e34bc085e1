import { type Static, Type } from "typebox";
import { findConnection, isBlocked } from "../../domain/customer.ts";
import { type Entry, explainEntries, type Ledger } from "../../domain/ledger.ts";
import { planView } from "../../domain/plan-view.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { BouquetLabel, Subscription } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { isoTime, plus } from "../../domain/wall-time.ts";
import { findCustomer } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import { momentOf } from "../../store/ports.ts";
import { CodeSchema, ENVIRONMENT, environmentOf, runOf, ServiceSchema } from "../common.ts";
import { operation } from "../operation.ts";
import { type Presenter, partnerName, presenterOf } from "../transactions/presenter.ts";
import { findByTxnIds } from "../transactions/sql.ts";
import { CuidSchema, type LedgerEntrySchema, LedgersSchema } from "./schemas.ts";

/** Top-ups that one statement reads. */
const TXN_IDS_AT_ONCE = 500;

export const showLedgers = operation({
  tag: "Customers",
  permission: "read",
  http: "GET /customers/:cuid/ledgers",
  summary: "Explain the end date of each subscription of a customer",
  input: Type.Object({
    cuid: CuidSchema,
    ...ENVIRONMENT,
    service: Type.Optional(ServiceSchema),
    reqId: Type.Optional(
      Type.String({ ...CodeSchema, description: "Set-top box number or username; undefined means all connections." }),
    ),
  }),
  answer: LedgersSchema,
  async run(office, input) {
    const { engine } = office.store;
    const environment = await environmentOf(office, input);
    const { connections = [] } = (await findCustomer(engine.db, environment, input.cuid)) ?? {};
    const now = momentOf(office).wall;
    const presenter = await presenterOf(office, environment);
    const plans: Static<typeof LedgersSchema>["plans"] = [];
    for (const ledger of await engine.readLedgers(engine.db, environment, [input.cuid])) {
      const { service, reqId, plan, entries } = ledger;
      if ((input.service ?? service) !== service || (input.reqId ?? reqId) !== reqId) continue;
      const topUps = await topUpsOf(engine.db, ledger);
      const explained = explainEntries(ledger).map((each) => entryData(each, topUps, presenter));
      const connection = findConnection(connections, ledger);
      const { state } = planView(ledger, connection !== undefined && isBlocked(connection), now);
      plans.push({ service, reqId, plan, state, run: runOf(entries.at(-1)?.after), entries: explained });
    }
    return { plans };
  },
});

async function topUpsOf(db: Db, { entries }: Ledger): Promise<ReadonlyMap<string, Transaction>> {
  const txnIds = entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : []));
  const found: [string, Transaction][] = [];
  for (const some of portionsOf(txnIds, TXN_IDS_AT_ONCE)) found.push(...(await findByTxnIds(db, some)));
  return new Map(found);
}

type EntryData = Static<typeof LedgerEntrySchema>;

function entryData(
  { entry, before, reversedBy, isOpening }: ReturnType<typeof explainEntries>[number],
  topUps: ReadonlyMap<string, Transaction>,
  presenter: Presenter,
): EntryData {
  const { seq, kind, at, after } = entry;
  const topUp = entry.kind === "top_up" ? topUps.get(entry.txnId) : undefined;
  const { period, bouquetId, bouquetName, txnId, reverses, author, reason, asOf, stated, goodwill } = fieldsOf(entry);
  return {
    seq,
    kind,
    at: isoTime(at.instant),
    wall: at.wall,
    before: runOf(before),
    after: runOf(after),
    counted: after === undefined ? null : countedOf(after),
    period,
    bouquetId,
    bouquetName,
    txnId,
    partner: topUp === undefined ? null : partnerName(topUp, presenter),
    amount: topUp === undefined ? null : presenter.formatAmount(topUp.amount),
    reverses,
    reversedBy: reversedBy ?? null,
    author,
    reason,
    asOf,
    stated,
    isOpening,
    goodwill,
  };
}

/** Fields that only some kinds of entries have. */
const NOTHING = {
  period: null,
  bouquetId: null,
  bouquetName: null,
  txnId: null,
  reverses: null,
  author: null,
  reason: null,
  asOf: null,
  stated: null,
  goodwill: null,
} as const satisfies Partial<EntryData>;

/** The fields that an entry has by its kind. */
function fieldsOf(entry: Entry): Pick<EntryData, keyof typeof NOTHING> {
  switch (entry.kind) {
    case "top_up":
      return { ...NOTHING, ...bouquetOf(entry.bouquet), period: { ...entry.period }, txnId: entry.txnId };
    case "goodwill": {
      const { author, reason } = entry;
      return { ...NOTHING, ...bouquetOf(entry.bouquet), period: { ...entry.period }, author, reason };
    }
    case "reversal": {
      const { of: reverses, author, reason } = entry;
      return { ...NOTHING, reverses, author, reason };
    }
    case "import": {
      const { stated, asOf, goodwill } = entry;
      const bouquet = stated && bouquetOf(stated.bouquet);
      return { ...NOTHING, ...bouquet, asOf: asOf.wall, stated: runOf(stated), goodwill };
    }
  }
}

function bouquetOf({ code, name }: BouquetLabel) {
  return { bouquetId: code, bouquetName: name };
}

function countedOf({ anchor: from, months, days, goodwillDays }: Subscription) {
  return { from, months, days, to: plus(from, { months, days }), goodwillDays };
}

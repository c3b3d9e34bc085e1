import { type Static, Type } from "typebox";
import { findConnection, isBlocked } from "../../domain/customer.ts";
import { explainEntries, type Ledger } from "../../domain/ledger.ts";
import { planView } from "../../domain/plan-view.ts";
import { portionsOf } from "../../domain/portions.ts";
import type { Subscription } from "../../domain/subscription.ts";
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

function entryData(
  { entry, before, reversedBy, isOpening }: ReturnType<typeof explainEntries>[number],
  topUps: ReadonlyMap<string, Transaction>,
  presenter: Presenter,
): Static<typeof LedgerEntrySchema> {
  const { seq, kind, at, after } = entry;
  const granted = entry.kind === "top_up" || entry.kind === "goodwill" ? entry : undefined;
  const reasoned = entry.kind === "goodwill" || entry.kind === "reversal" ? entry : undefined;
  const imported = entry.kind === "import" ? entry : undefined;
  const bouquet = imported?.stated?.bouquet ?? granted?.bouquet;
  const txnId = entry.kind === "top_up" ? entry.txnId : null;
  const topUp = topUps.get(txnId ?? "");
  return {
    seq,
    kind,
    at: isoTime(at.instant),
    wall: at.wall,
    before: runOf(before),
    after: runOf(after),
    counted: after === undefined ? null : countedOf(after),
    period: granted === undefined ? null : { ...granted.period },
    bouquetId: bouquet?.code ?? null,
    bouquetName: bouquet?.name ?? null,
    txnId,
    partner: topUp === undefined ? null : partnerName(topUp, presenter),
    amount: topUp === undefined ? null : presenter.formatAmount(topUp.amount),
    reverses: entry.kind === "reversal" ? entry.of : null,
    reversedBy: reversedBy ?? null,
    author: reasoned?.author ?? null,
    reason: reasoned?.reason ?? null,
    asOf: imported?.asOf.wall ?? null,
    stated: runOf(imported?.stated),
    isOpening,
    goodwill: imported?.goodwill ?? null,
  };
}

function countedOf({ anchor: from, months, days, goodwillDays }: Subscription) {
  return { from, months, days, to: plus(from, { months, days }), goodwillDays };
}

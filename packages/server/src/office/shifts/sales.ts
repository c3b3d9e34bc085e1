import { type Static, Type } from "typebox";
import { subjectOf } from "../../domain/correction.ts";
import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import { cashReturned, saleState } from "../../domain/sale.ts";
import type { Db } from "../../store/engine.ts";
import { momentOf } from "../../store/ports.ts";
import { transactionOfRow } from "../../store/rows.ts";
import type { ApprovalRow } from "../../store/tables.ts";
import { rangeAfter, rangeOf } from "../../store/top-up-ranges.ts";
import { day, daysOf, limitOf, onePage, PAGE, pageOf, ReasonSchema, readPage } from "../common.ts";
import { readNames } from "../customer-search.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { approvalsOf, requestForSeller, stateOf } from "../second-person.ts";
import { presenterOf, transactionData } from "../transactions/presenter.ts";
import { noShift, sellerKey } from "./own.ts";
import { SaleSchema } from "./schemas.ts";
import { findSale, lockOpenShift, markReturned, readSales, type SaleOfTopUp, searchSales } from "./sql.ts";

/* What sellers do with the sales of their partner, at the counter. */

const AS = { tag: "Sales", permission: "sell" } as const;
const OF_SALE = { ...AS, refuses: ["not_found", "conflict"] } as const;
const TxnIdSchema = Type.String({ maxLength: 64, pattern: "^\\P{Cc}+$", description: "The txnId of a sale." });

export const listSales = operation({
  ...AS,
  http: "GET /sales",
  summary: "List the sales of the own partner on one day, newest first, or find some",
  input: Type.Object({
    ...PAGE,
    day: Type.Optional(day("A day of the provider's clock (default: today).")),
    find: Type.Optional(
      Type.String({
        pattern: "^\\P{Cc}{1,200}$",
        description: "A receipt number, or the end of a txnId: the newest such sales of all days.",
      }),
    ),
  }),
  answer: pageOf(SaleSchema),
  async run(office, { day: asked, find, ...input }) {
    const { db } = office.store.engine;
    const key = await sellerKey(office);
    if (find !== undefined) {
      const found = await searchSales(db, key, find.trim(), limitOf(input));
      return onePage(await salesData(office, db, key.environment, found));
    }
    const only = asked ?? momentOf(office).wall.slice(0, 10);
    const { from, until } = daysOf(office, { from: only, to: only });
    const range = rangeAfter(rangeOf(from, until), input.cursor, "desc");
    const { items, cursor } = await readPage(
      input,
      (limit) => readSales(db, key, range, limit),
      ({ txnId }) => txnId,
    );
    return { items: await salesData(office, db, key.environment, items), cursor };
  },
});

export const requestReversal = operation({
  ...OF_SALE,
  http: "POST /sales/:txnId/reversal-request",
  summary: "Ask the provider's staff to reverse a sale of the own partner. A request that waits already stays",
  input: Type.Object({ txnId: TxnIdSchema, reason: ReasonSchema }),
  answer: SaleSchema,
  async run(office, { txnId }) {
    const meant = await saleMeant(office, txnId);
    await decide(office, [meant], async (tx) => {
      const sale = await saleMeant(office, txnId, tx);
      if (sale.status === "reversed") throw new Refused("conflict", "this sale is reversed already");
      const { environment } = sale;
      const amount = formatMoneyInFull(BigInt(sale.amount), office.store.provider.currencyExponent);
      const audited = { subject: `${txnId} ${subjectOf(sale)}`, after: { amount } };
      const { change } = await requestForSeller(office, tx, { kind: "reversal", subject: txnId, environment, audited });
      return { answer: undefined, change };
    });
    return showSale(office, txnId);
  },
});

export const returnCash = operation({
  ...OF_SALE,
  http: "POST /sales/:txnId/cash-returned",
  summary: "Record in the own open shift that the cash of a reversed sale was returned",
  input: Type.Object({ txnId: TxnIdSchema }),
  answer: SaleSchema,
  async run(office, { txnId }) {
    await decide(office, [], async (tx) => {
      const key = await sellerKey(office, tx);
      const sale = await saleMeant(office, txnId, tx);
      if (sale.method !== "cash") throw new Refused("conflict", `this sale was paid by ${sale.method}, not in cash`);
      if (sale.status !== "reversed")
        throw new Refused("conflict", "this sale is not reversed: ask for its reversal first");
      const shift = (await lockOpenShift(tx, key)) ?? noShift();
      const amount = formatMoneyInFull(BigInt(sale.amount), office.store.provider.currencyExponent);
      const write = async () => {
        if (!(await markReturned(tx, txnId, shift.id)))
          throw new Refused("conflict", "the cash of this sale was returned already");
      };
      const audit = [cashReturned(`${txnId} ${subjectOf(sale)}`, amount)];
      return { answer: undefined, change: { write, audit } };
    });
    return showSale(office, txnId);
  },
});

/** A sale of the seller's partner. @throws Refused */
async function saleMeant(office: Office, txnId: string, db: Db = office.store.engine.db): Promise<SaleOfTopUp> {
  const sale = await findSale(db, await sellerKey(office, db), txnId);
  if (sale === undefined) throw new Refused("not_found", "your shop has no sale with this txnId");
  return sale;
}

async function showSale(office: Office, txnId: string): Promise<Static<typeof SaleSchema>> {
  const { db } = office.store.engine;
  const sale = await saleMeant(office, txnId);
  const [shown] = await salesData(office, db, sale.environment, [sale]);
  return shown as Static<typeof SaleSchema>;
}

async function salesData(
  office: Office,
  db: Db,
  environment: Environment,
  sales: readonly SaleOfTopUp[],
): Promise<Static<typeof SaleSchema>[]> {
  const presenter = await presenterOf(office, environment);
  const cuids = sales.map(({ cuid }) => cuid);
  const names = await readNames(db, environment, cuids);
  const requests = await approvalsOf(
    db,
    "reversal",
    sales.map(({ txnId }) => txnId),
  );
  const staff = await db.selectFrom("staff").select("name").where("role", "=", "seller").execute();
  const sellers = new Set(staff.map(({ name }) => name));
  return sales.map(({ seller, method, returnedShift, ...row }) => {
    const request = requests.get(row.txnId);
    const isCashBack = method === "cash" && row.status === "reversed";
    return {
      ...transactionData(transactionOfRow(row), presenter, { seller, method }),
      ...{ seller, method, customer: names.get(row.cuid) ?? null },
      state: saleState(row.status, request && stateOf(request, office.clock())),
      request: request === undefined ? null : requestData(request, sellers.has(request.requestedBy)),
      cashReturned: isCashBack ? returnedShift !== null : null,
    };
  });
}

/** Sellers do not see the reasons and names of the provider's staff. */
function requestData({ reason, requestedBy, refusal }: ApprovalRow, isBySeller: boolean) {
  return isBySeller ? { reason, requestedBy, refusal } : { reason: "", requestedBy: "the provider", refusal };
}

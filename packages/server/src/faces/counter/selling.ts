import type { Static } from "typebox";
import { refusalOfToken } from "../../domain/access-token.ts";
import { CHECKOUT_VALID_MS, checkoutIssuedAt } from "../../domain/checkout.ts";
import { type ConnectionKey, openToSales, subscriptionsOf } from "../../domain/customer.ts";
import { type Refusal, refused } from "../../domain/failure.ts";
import { explainEntries } from "../../domain/ledger.ts";
import { formatMoneyInFull } from "../../domain/money.ts";
import { isRunning } from "../../domain/subscription.ts";
import { entryOfTopUp } from "../../domain/top-up.ts";
import { DAY_MS, isoTime } from "../../domain/wall-time.ts";
import { readAmount } from "../../office/common.ts";
import type { StaffIdentity } from "../../office/session/log-in.ts";
import { findByTxnIds } from "../../office/transactions/sql.ts";
import { holderOf } from "../../partner/authenticate.ts";
import { listPackages, lookUpCustomer } from "../../partner/customers.ts";
import type { Detailed } from "../../partner/failures.ts";
import { limitLookUps } from "../../partner/look-ups.ts";
import type { Caller, Ports } from "../../partner/ports.ts";
import { queryTransaction, topUp } from "../../partner/top-ups.ts";
import { ledgersOfConnection } from "../../store/customers.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import { momentOf } from "../../store/ports.ts";
import type { AdminPorts } from "../staff-api/ports.ts";
import { Problem } from "../staff-api/problems.ts";
import { receiptOf } from "./receipt.ts";
import type { FoundSchema, OfferSchema, OutcomeSchema, ReceiptSchema, SaleSchema } from "./schemas.ts";
import { refusedSale, wordsOf } from "./words.ts";

/** The parts of the partners' service that the counter needs. */
export type PartnerParts = Pick<Ports, "observer" | "recording" | "countLookUp">;

type Seller = Pick<StaffIdentity, "name" | "person">;

/** The work of sellers: the partner's own requests, made by a person. */
export class Selling {
  readonly #ports: AdminPorts;
  readonly #partner: Ports;
  readonly #limit: ReturnType<typeof limitLookUps>;

  constructor(ports: AdminPorts, parts: PartnerParts) {
    const { store, clock, random } = ports;
    this.#ports = ports;
    this.#partner = { store, clock, random, ...parts };
    this.#limit = limitLookUps(this.#partner);
  }

  /** Finds a customer by one code. @throws Problem */
  async find(seller: Seller, code: string): Promise<Static<typeof FoundSchema>> {
    const { store } = this.#ports;
    const caller = await this.#callerOf(seller);
    const found = await lookUpCustomer(this.#partner, caller, { code });
    const cuid = found.ok ? found.value.customer.cuid : undefined;
    this.#note(caller, cuid);
    const { customer, connections } = this.#done((await this.#limit(caller, cuid ?? code)) ?? found);
    const keys = connections.map(({ service, reqId }) => ({
      environment: caller.environment,
      cuid: customer.cuid,
      service,
      reqId,
    }));
    const shown = keys.map(async (key) => connectionOf(this.#ports, key, await store.findConnection(key)));
    return { customer: buyerOf(customer), connections: await Promise.all(shown) };
  }

  /** Lists the bouquets for a connection, with a new checkoutId. @throws Problem */
  async offer(seller: Seller, request: Omit<ConnectionKey, "environment">): Promise<Static<typeof OfferSchema>> {
    const { store } = this.#ports;
    const { currencyExponent } = store.provider;
    const caller = await this.#callerOf(seller);
    const key = { ...request, environment: caller.environment };
    this.#note(caller, key.cuid);
    const listed = (await this.#limit(caller, key.cuid)) ?? (await listPackages(this.#partner, caller, request, 0));
    const { checkoutId, customer, bouquets } = this.#done(listed);
    const found = await store.findConnection(key);
    const connection = found?.connection ?? this.#refuse(refused("connection_not_found"));
    const last = subscriptionsOf(connection).map(({ bouquet }) => bouquet.code);
    const rankOf = (code: string) => (last.includes(code) ? last.indexOf(code) : last.length);
    const now = momentOf(this.#ports);
    return {
      checkoutId,
      validUntil: isoTime((checkoutIssuedAt(checkoutId) ?? now.instant) + CHECKOUT_VALID_MS),
      customer: buyerOf(customer),
      connection: connectionOf(this.#ports, key, found),
      bouquets: [...bouquets]
        .sort((a, b) => rankOf(a.code) - rankOf(b.code))
        .map((bouquet) => ({
          bouquetId: bouquet.code,
          name: bouquet.name,
          price: formatMoneyInFull(bouquet.price, currencyExponent),
          addOn: bouquet.addOn,
          end: entryOfTopUp(connection, bouquet, "", now).after.end,
        })),
    };
  }

  /** Sells. The same request again gets the same receipt. @throws Problem */
  async sell(seller: Seller, sale: Static<typeof SaleSchema>): Promise<Static<typeof ReceiptSchema>> {
    const { store } = this.#ports;
    const caller = await this.#callerOf(seller);
    const { checkoutId, cuid, service, reqId, bouquetId: bouquetCode, receiptNumber: udf1, again = false } = sale;
    const amount = readAmount(this.#ports, "price", sale.price);
    const request = { checkoutId, cuid, service, reqId, bouquetCode, amount, udf1 };
    if (!again) await this.#refuseSecond(caller, request);
    if (store.isOverloaded()) throw new StoreUnavailable("too many top-ups wait");
    const { transaction } = this.#done(
      await topUp(this.#partner, caller, request, { seller: seller.name, method: sale.method }),
    );
    return receiptOf(this.#ports, transaction);
  }

  /** Finds the result of a sale whose answer was lost. @throws Problem */
  async outcome(seller: Seller, checkoutId: string): Promise<Static<typeof OutcomeSchema>> {
    const result = await queryTransaction(this.#partner, await this.#callerOf(seller, true), { checkoutId });
    if (result.ok) return { state: "sold", receipt: await receiptOf(this.#ports, result.value) };
    if (result.refusal === "not_topped_up") return { state: "open", receipt: null };
    if (result.refusal === "never_topped_up") return { state: "never", receipt: null };
    return this.#refuse(result);
  }

  /** The receipt of a sale of the seller's partner. @throws Problem */
  async receipt(seller: Seller, txnId: string): Promise<Static<typeof ReceiptSchema>> {
    const { partnerId, environment } = await this.#callerOf(seller, true);
    const found = (await findByTxnIds(this.#ports.store.engine.db, [txnId])).get(txnId);
    const isOwn = found?.partnerId === partnerId && found.environment === environment;
    if (found === undefined || !isOwn) throw new Problem("not_found", "Your shop has no such sale.");
    return receiptOf(this.#ports, found);
  }

  /** @param isQuery whether only the past is asked for: a suspended partner may know it. @throws Problem */
  async #callerOf({ name, person }: Seller, isQuery = false): Promise<Caller> {
    const { store, clock } = this.#ports;
    const token = person?.tokenHash && (await store.findAccessToken(person.tokenHash));
    const refusal = refusalOfToken(token, clock());
    if (token !== undefined && (refusal === undefined || (isQuery && refusal === "partner_suspended")))
      return { ...holderOf(token), seller: name };
    return this.#refuse(refused(refusal ?? "unknown_token"));
  }

  /** Asks before a plan is sold twice within a day: the customer may have paid once. @throws Problem */
  async #refuseSecond(
    { environment, partnerId }: Caller,
    {
      bouquetCode,
      checkoutId,
      ...name
    }: Omit<ConnectionKey, "environment"> & Record<"bouquetCode" | "checkoutId", string>,
  ): Promise<void> {
    const { store, clock } = this.#ports;
    const { engine } = store;
    const since = clock() - DAY_MS;
    const catalogue = await store.currentCatalogue(environment, clock());
    const plan = catalogue?.bouquets.find((each) => each.service === name.service && each.code === bouquetCode)?.plan;
    const all = await engine.readLedgers(engine.db, environment, [name.cuid]);
    const ledger = ledgersOfConnection(all, { ...name, environment }).find((each) => each.plan === plan);
    const txnIds = (ledger === undefined ? [] : explainEntries(ledger)).flatMap(({ entry, reversedBy }) => {
      return entry.kind === "top_up" && entry.at.instant > since && reversedBy === undefined ? [entry.txnId] : [];
    });
    const found = [...(await findByTxnIds(engine.db, txnIds)).values()];
    const other = found.find((each) => each.partnerId === partnerId && each.checkoutId !== checkoutId);
    if (other === undefined || found.some((each) => each.checkoutId === checkoutId)) return;
    const problem = `is needed: your shop sold this plan for the connection at ${other.txnDate}`;
    throw new Problem("conflict", `Your shop sold this plan at ${other.txnDate}. Sell it again?`, [
      { field: "again", problem },
    ]);
  }

  /** Logs who looked up which customer. @param cuid undefined if none was found. */
  #note({ seller: staff, partnerName }: Caller, cuid: string | undefined): void {
    this.#ports.log("info", { staff, partnerName, cuid }, "a seller looked a customer up");
  }

  #done<Value>(result: Detailed<Value>): Value {
    return result.ok ? result.value : this.#refuse(result);
  }

  #refuse(result: Parameters<typeof refusedSale>[0]): never {
    throw refusedSale(result, this.#ports.currency);
  }
}

function buyerOf({
  cuid,
  firstName,
  lastName,
}: {
  readonly cuid: string;
  readonly firstName: string;
  readonly lastName: string;
}) {
  return { cuid, name: `${firstName} ${lastName}`.trim() };
}

/** A connection with its subscriptions, and why nothing can be sold for it. */
function connectionOf(
  ports: Pick<AdminPorts, "store" | "clock">,
  { service, reqId }: ConnectionKey,
  found: Awaited<ReturnType<Ports["store"]["findConnection"]>>,
) {
  const { wall } = momentOf(ports);
  const open = openToSales(found?.profile, found?.connection);
  const plans = found?.connection === undefined ? [] : subscriptionsOf(found.connection);
  return {
    service,
    reqId,
    plans: plans.map(({ bouquet, end, ...run }) => ({
      name: bouquet.name,
      bouquetId: bouquet.code,
      end,
      isRunning: isRunning({ ...run, end }, wall),
      from: run.start > wall ? run.start : null,
    })),
    problem: open.ok ? null : wordsOf(open.refusal satisfies Refusal),
  };
}

import { type Calendar, Choices, type DemoCustomer, makeDemoCustomers } from "@topupd/demo/customers";
import {
  DEMO_ACCOUNTS,
  DEMO_PARTNERS,
  HISTORY_DAYS,
  type Planned,
  type PlannedCorrection,
  type PlannedDeposit,
  type PlannedMistake,
  type PlannedTopUp,
  planDemo,
} from "@topupd/demo/plan";
import { Refused } from "../../../domain/refused.ts";
import { DAY_MS, type Instant, plus } from "../../../domain/wall-time.ts";
import { setCommission } from "../../../office/accounts/commission.ts";
import { changeAccount, enterIntoAccount } from "../../../office/accounts/operations.ts";
import { blockConnection, grantGoodwill } from "../../../office/corrections/operations.ts";
import { reverseTransaction } from "../../../office/corrections/reversal.ts";
import { importCustomers } from "../../../office/imports/customers.ts";
import { type Actor, type Desk, officeOf } from "../../../office/office.ts";
import { perform } from "../../../office/operation.ts";
import { addPartner } from "../../../office/partners/operations.ts";
import { issueToken } from "../../../office/partners/tokens.ts";
import { addStaff } from "../../../office/staff/operations.ts";
import { listPackages, lookUpCustomer } from "../../../partner/customers.ts";
import type { Caller } from "../../../partner/ports.ts";
import { topUp } from "../../../partner/top-ups.ts";
import type { Ports } from "../../../store/ports.ts";
import type { RefusedCall } from "../../../store/store.ts";
import { resetTrial } from "./trial.ts";

const SEED = 26;
const HOUR_MS = 3_600_000;
/** Calls that share a commit and a time. One commit for each call would take half a minute on a slow disk. */
const AT_ONCE = 8;
/** Calls within this time share a commit in the last days, which the console shows by the hour. */
const NEAR_MS = HOUR_MS / 6;
const LAST_DAYS_MS = 2 * DAY_MS;
const ROWS_AT_NIGHT = 40;
const REQUEST_ID_BYTES = 9;
const PASSWORD_BYTES = 24;
const PROVIDER: Actor = { name: "Maya Gurung" };
const FINANCE: Actor = { name: "Nisha Karki" };
/** Less than the validity of a trial token. */
const RENEW_TOKENS_MS = 6 * DAY_MS;
const STAFF = [
  ["Maya Gurung", "admin"],
  ["Sunita Rai", "support"],
  ["Bikram Thapa", "support"],
  ["Nisha Karki", "finance"],
] as const;

/** A desk whose store uses the same clock. */
export interface DemoDesk extends Desk {
  /** Sets the clock. */
  readonly turnTo: (at: Instant) => void;
}

/**
 * Gives the trial environment 500 customers and three months of history, made by the use cases that production uses. The
 * history is the same in every demo, except its dates and secrets (ids, keys and tokens).
 * @param now end of the history.
 */
export async function makeDemoHistory(ports: DemoDesk, now: Instant): Promise<void> {
  const { actor, store } = ports;
  const { zone } = store.provider;
  const calendar: Calendar = {
    wallTime: (at) => zone.wallTime(at),
    monthAfter: (time) => plus(time, { months: 1, days: 0 }),
  };
  const choices = new Choices(SEED);
  const begin = now - HISTORY_DAYS * DAY_MS;
  ports.turnTo(begin);
  await resetTrial(ports, actor);
  // The console lists these accounts. No person logs in with them.
  await Promise.all(
    STAFF.map(([name, role]) => {
      const password = Buffer.from(ports.random(PASSWORD_BYTES)).toString("base64url");
      return perform(addStaff, ports, { name, role, password });
    }),
  );
  const callers: Caller[] = [];
  for (const name of DEMO_PARTNERS) {
    const { id } = await perform(addPartner, ports, { name });
    callers.push({ partnerId: id, partnerName: name, environment: "trial", tokenId: undefined });
  }
  for (const { name, percent, creditLimit, alertBelow } of DEMO_ACCOUNTS) {
    const desk = { ...ports, actor: PROVIDER };
    await perform(setCommission, desk, { name, percent });
    await perform(changeAccount, desk, { name, environment: "trial", creditLimit, alertBelow });
  }
  const customers = makeDemoCustomers(choices, calendar, begin);
  const rows = customers.map(({ row }) => row);
  await importRows(ports, "customers", rows);

  const subscriptions = customers.flatMap((customer) => customer.subscriptions);
  const history = new History(ports, callers);
  const imports = [60, 30, 7, 1].map((days) => now - days * DAY_MS - 5 * HOUR_MS);
  let renewAt = begin;
  for (const batch of batches(planDemo(choices, calendar, now, subscriptions), now)) {
    const at = batch.at(-1)?.at as Instant;
    while ((imports[0] ?? Number.POSITIVE_INFINITY) < at) {
      ports.turnTo(imports.shift() as Instant);
      await importSome(ports, choices, customers, imports.length === 0);
    }
    if (renewAt < at) {
      ports.turnTo(renewAt);
      await history.renewTokens();
      renewAt += RENEW_TOKENS_MS;
    }
    ports.turnTo(at);
    await Promise.all(batch.map((planned) => history.make(planned)));
  }
  await ports.store.recordRefusedCalls(history.refusedCalls);
  ports.turnTo(now);
  await history.useTokens();
}

/** Batches of consecutive calls. A correction is a batch of its own. */
function* batches(planned: readonly Planned[], now: Instant): Generator<readonly Planned[]> {
  let batch: Planned[] = [];
  for (const each of planned) {
    const isCall = each.kind === "top_up" || each.kind === "mistake";
    const [first = each] = batch;
    const isFull = batch.length === AT_ONCE || (each.at > now - LAST_DAYS_MS && each.at - first.at > NEAR_MS);
    if (batch.length > 0 && (!isCall || isFull)) {
      yield batch;
      batch = [];
    }
    batch.push(each);
    if (!isCall) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Makes the planned calls and corrections. Refused calls are a part of the history. */
class History {
  readonly refusedCalls: RefusedCall[] = [];
  readonly #ports: DemoDesk;
  readonly #callers: Caller[];
  readonly #txnIds = new Map<PlannedTopUp, string>();

  constructor(ports: DemoDesk, callers: Caller[]) {
    this.#ports = ports;
    this.#callers = callers;
  }

  async make(planned: Planned): Promise<void> {
    if (planned.kind === "top_up") await this.#topUp(planned);
    else if (planned.kind === "mistake") await this.#mistake(planned);
    else if (planned.kind === "deposit") await this.#deposit(planned);
    else await this.#correct(planned);
  }

  /** Issues a token to each partner, except to the demo's own, which gets one at each start. */
  async renewTokens(): Promise<void> {
    for (const [index, caller] of this.#callers.entries()) {
      if (index === 0) continue;
      const desk = { ...this.#ports, actor: PROVIDER };
      const { id } = await perform(issueToken, desk, { partner: caller.partnerName, environment: "trial" });
      this.#callers[index] = { ...caller, tokenId: id };
    }
  }

  async useTokens(): Promise<void> {
    const now = this.#ports.clock();
    const uses = this.#callers.flatMap(({ tokenId }, index): [string, Instant][] =>
      tokenId === undefined ? [] : [[tokenId, now - (index * 40 - 37) * 60_000]],
    );
    await this.#ports.store.recordTokenUses(new Map(uses));
  }

  async #deposit({ name, amount, reference }: PlannedDeposit): Promise<void> {
    const entry = { name, environment: "trial", kind: "deposit", amount, reference } as const;
    await perform(enterIntoAccount, { ...this.#ports, actor: FINANCE }, entry);
  }

  async #topUp(planned: PlannedTopUp): Promise<void> {
    const txnId = await this.#call(planned, planned.subscription, 1n);
    if (txnId !== undefined) this.#txnIds.set(planned, txnId);
  }

  async #mistake(planned: PlannedMistake): Promise<void> {
    const { subscription, wrong } = planned;
    if (wrong === "amount") await this.#call(planned, subscription, 2n);
    else if (wrong === "connection")
      await this.#call(planned, { ...subscription, reqId: `${subscription.reqId}x` }, 1n);
    else {
      const code = `${subscription.cuid}0`;
      const answer = await lookUpCustomer(this.#ports, this.#caller(planned), { code });
      if (!answer.ok) this.#note(planned, "get-customer-information", answer.refusal, code);
    }
  }

  /** @param times factor of the price (a wrong amount is refused). @returns the txnId if a top-up was recorded. */
  async #call(
    planned: PlannedTopUp | PlannedMistake,
    { cuid, service, reqId }: PlannedTopUp["subscription"],
    times: bigint,
  ): Promise<string | undefined> {
    const [caller, connection] = [this.#caller(planned), { cuid, service, reqId }];
    const listed = await listPackages(this.#ports, caller, connection, 0);
    if (!listed.ok) return this.#note(planned, "get-subscription-package", listed.refusal, cuid);
    const bouquet = listed.value.bouquets.find(({ code }) => code === planned.code);
    if (bouquet === undefined) return undefined;
    const { checkoutId } = listed.value;
    const request = { ...connection, checkoutId, bouquetCode: bouquet.code, amount: bouquet.price * times };
    const answer = await topUp(this.#ports, caller, request);
    if (!answer.ok) return this.#note(planned, "subscription-package-topup", answer.refusal, cuid);
    return answer.value.transaction.txnId;
  }

  async #correct(planned: PlannedCorrection): Promise<void> {
    await this.#perform(planned).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
    });
  }

  async #perform({ kind, of, author, reason }: PlannedCorrection): Promise<unknown> {
    const desk = { ...this.#ports, actor: { name: author } };
    const { cuid, service, reqId } = of.subscription;
    const connection = { cuid, service, reqId, environment: "trial", reason } as const;
    if (kind === "goodwill") return perform(grantGoodwill, desk, { ...connection, days: 2 });
    if (kind !== "reversal") return perform(blockConnection, desk, { ...connection, blocked: kind === "block" });
    const id = this.#txnIds.get(of);
    return id === undefined ? undefined : perform(reverseTransaction, desk, { id, reason });
  }

  #caller({ partner }: PlannedTopUp | PlannedMistake): Caller {
    return this.#callers[partner] as Caller;
  }

  #note(planned: PlannedTopUp | PlannedMistake, operation: string, reason: string, code: string): undefined {
    const { partnerId, environment } = this.#caller(planned);
    const requestId = Buffer.from(this.#ports.random(REQUEST_ID_BYTES)).toString("base64url");
    this.refusedCalls.push({ at: planned.at, partnerId, environment, operation, reason, code, requestId });
  }
}

/** Imports the records of some customers. A few names are changed. In the last file, two records lack the last top-up. */
async function importSome(
  ports: DemoDesk,
  choices: Choices,
  customers: readonly DemoCustomer[],
  isLast: boolean,
): Promise<void> {
  const first = choices.below(customers.length - ROWS_AT_NIGHT);
  const asOf = `${new Date(ports.clock() - HOUR_MS).toISOString().slice(0, 19)}Z`;
  const withOne = isLast ? customers.filter(({ subscriptions }) => subscriptions.length === 1) : [];
  const held = await importRows(
    ports,
    "changes",
    withOne.map(({ row }) => row),
    { asOf, preview: true },
  );
  const outdated = held.slice(0, 2);
  const some = customers.filter(({ row: { cuid } }, index) => {
    return (index >= first && index < first + ROWS_AT_NIGHT) || outdated.includes(cuid);
  });
  const rows = some.map((customer, index) => {
    const { connections, ...profile } = customer.row;
    const bare = Object.entries(connections).map(([service, its]) => [
      service,
      its.map((connection) => ({ ...connection, subscriptions: undefined })),
    ]);
    const renamed = index % 13 === 0 ? { last_name: "Poudel Sharma" } : {};
    return {
      ...profile,
      ...renamed,
      connections: outdated.includes(customer.row.cuid) ? connections : Object.fromEntries(bare),
    };
  });
  await importRows(ports, "changes", rows, { asOf });
}

/** @returns the cuids of the subscriptions held back. */
async function importRows(
  ports: Ports,
  what: string,
  rows: readonly object[],
  { asOf, preview = false }: { readonly asOf?: string; readonly preview?: boolean } = {},
): Promise<readonly string[]> {
  const { store, clock } = ports;
  const name = `${what}-${store.provider.zone.wallTime(clock()).slice(0, 10)}.ndjson`;
  const text = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const open = async function* () {
    yield text;
  };
  const ignore = () => {};
  const heldBack: string[] = [];
  const onHeldBack = ({ cuid }: { readonly cuid: string }) => heldBack.push(cuid);
  const hooks = { onRejected: ignore, onProgress: ignore, onHeldBack, onWarning: ignore };
  if (rows.length === 0) return [];
  const of = officeOf({ ...ports, actor: PROVIDER }, { preview });
  await importCustomers(of, { environment: "trial", file: { name, isCsv: false, open }, asOf }, hooks);
  return heldBack;
}

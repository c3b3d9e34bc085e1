import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { issueToken } from "../src/office/partners/tokens.ts";
import { StoreUnavailable } from "../src/store/errors.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { by } from "../test/support/by.ts";
import { importRows, publishRows } from "../test/support/catalogue.ts";
import { deskOf, run } from "../test/support/desk.ts";
import { partnersOf, UNLIMITED } from "../test/support/partners.ts";
import { Told } from "./book.ts";
import type { Ground } from "./processes.ts";
import type { Choices } from "./random.ts";

/** The connections that campaigns top up: few, so that they meet on the same ones. */
export const CUSTOMERS = 12;

export const BOUQUETS = [
  { service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: 3220.5 },
] as const;

export function customerRow(index: number) {
  const connections = { internet: [{ username: `u${index}`, status: "active" }] };
  return { cuid: `c${index}`, first_name: "First", last_name: "Last", status: "active", connections };
}

/** Opens a provider's database, as the command line does, next to the processes of the service. */
export async function openDesk({ cwd, database }: Ground) {
  const world = { clock: Date.now, random: randomBytes };
  const wishes = { ...world, timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS };
  const store =
    database === undefined
      ? await openSqliteStore({ ...wishes, path: join(cwd, "topupd.db") })
      : await openPostgresStore({ ...wishes, url: database, connections: 4 });
  const ports = { ...world, store };
  return { store, ports, desk: deskOf(ports, { name: "campaign" }), close: () => store.close() };
}

/** Adds a partner without limits. @returns a production token. */
export async function addOpenPartner({ store, desk }: Awaited<ReturnType<typeof openDesk>>, name: string) {
  await partnersOf(store).add(name, by(desk.clock()));
  await partnersOf(store).setLimits(name, UNLIMITED, by(desk.clock()));
  return (await run(desk, issueToken, { partner: name, environment: "production" })).token;
}

/** Makes a provider's database, by the services that the command line uses. @returns a production token. */
export async function makeProvider(ground: Ground, customerCount = CUSTOMERS): Promise<string> {
  const opened = await openDesk(ground);
  try {
    const customers = Array.from({ length: customerCount }, (_, index) => customerRow(index));
    await publishRows(opened.store, BOUQUETS, opened.desk.clock());
    await importRows(opened.ports, customers);
    return await addOpenPartner(opened, "wallet");
  } finally {
    await opened.close();
  }
}

export interface Purchase {
  readonly cuid: string;
  readonly service: "internet";
  readonly reqId: string;
  readonly checkoutId: string;
  readonly bouquetId: string;
  readonly amt: string;
}

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
  readonly code: string;
}

interface Listing {
  readonly bouquets: readonly { readonly code: string; readonly price: number }[];
  readonly subscriptions: readonly { readonly startdate: string; readonly enddate: string }[];
}

/** A partner as partners are: it knows a base address and a token, and nothing of the inside. */
export class PartnerClient {
  readonly #url: string;
  readonly #base: string;
  readonly #token: string;
  readonly #told: Told;

  constructor(url: string, token: string, told = new Told()) {
    this.#url = url;
    this.#base = `${url}/staging/api/third-party/v1.0.1`;
    this.#token = token;
    this.#told = told;
  }

  withToken(token: string): PartnerClient {
    return new PartnerClient(this.#url, token, this.#told);
  }

  async call(operation: string, request: object): Promise<Answer> {
    const response = await fetch(`${this.#base}/${operation}`, {
      // Longer than topupd's own limit.
      signal: AbortSignal.timeout(40_000),
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const text = await response.text();
    const { code } = JSON.parse(text) as { code: string };
    return { status: response.status, replayed: response.headers.has("idempotent-replayed"), text, code };
  }

  async list(index: number): Promise<Listing & { readonly checkoutId: string }> {
    const { status, text } = await this.call("get-subscription-package", connectionOf(index));
    if (status !== 200) throw new Error(`the packages cannot be listed: ${text}`);
    const { body } = JSON.parse(text) as { body: { checkoutId: string; internet: Listing } };
    return { checkoutId: body.checkoutId, ...body.internet };
  }

  /** Takes the first two steps of a top-up of one of the campaign's customers. */
  async prepare(choices: Choices): Promise<Purchase> {
    const index = choices.below(CUSTOMERS);
    const { checkoutId, bouquets } = await this.list(index);
    const bouquet = choices.of(bouquets);
    return { ...connectionOf(index), checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price) };
  }

  topUp(purchase: Purchase): Promise<Answer> {
    return this.#ask("subscription-package-topup", purchase);
  }

  query(checkoutId: string): Promise<Answer> {
    return this.#ask("txn-status", { checkoutId });
  }

  async #ask(operation: string, request: { readonly checkoutId: string }): Promise<Answer> {
    const answer = await this.call(operation, request);
    this.#told.hear(request.checkoutId, answer.text);
    return answer;
  }
}

const ANSWERED_WITHIN_MS = 60_000;

/** Repeats what fails because processes are killed. */
export async function insist<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (const deadline = Date.now() + ANSWERED_WITHIN_MS; ; await sleep(20))
    try {
      return await ask();
    } catch (error) {
      // fetch throws a TypeError if a connection is refused or breaks.
      const isPassing = error instanceof TypeError || error instanceof StoreUnavailable;
      if (!(isPassing || String(error).includes("400ae002")) || Date.now() > deadline) throw error;
    }
}

/** Tops up a customer once, though the service is killed meanwhile. @returns the checkoutId. */
export async function topUpSurely(client: () => PartnerClient, index: number, code: string) {
  const { checkoutId, bouquets } = await insist(() => client().list(index));
  const price = bouquets.find((bouquet) => bouquet.code === code)?.price;
  const purchase = { ...connectionOf(index), checkoutId, bouquetId: code, amt: String(price) };
  const { status, text } = await insist(async () => {
    const answer = await client().topUp(purchase);
    if (answer.status === 503) throw new Error(answer.text);
    return answer;
  });
  if (status !== 200) throw new Error(`customer ${index} cannot be topped up: ${text}`);
  return checkoutId;
}

export function connectionOf(index: number) {
  return { cuid: `c${index}`, service: "internet", reqId: `u${index}` } as const;
}

/** A top-up that was sent must have a clear status. Sent again, it is replayed or made. */
export async function verifySent(client: PartnerClient, purchase: Purchase): Promise<void> {
  const before = await available(() => client.query(purchase.checkoutId));
  if (before.status !== 200 && before.code !== "400ab107") throw new Error(`no clear status: ${before.text}`);
  const again = await available(() => client.topUp(purchase));
  if (again.status !== 200 || again.replayed !== (before.status === 200))
    throw new Error(`sent again after ${before.text}, answered ${again.text}`);
}

const BACK_WITHIN_MS = 10_000;

/** Asks until the service is available: it is ready as soon as look-ups work, also while its settler starts again. */
async function available(ask: () => Promise<Answer>): Promise<Answer> {
  for (let waited = 0; ; waited += 100) {
    const answer = await ask();
    if (answer.code !== "400ae002" || waited >= BACK_WITHIN_MS) return answer;
    await sleep(100);
  }
}

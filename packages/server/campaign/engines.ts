import assert from "node:assert/strict";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { Refused } from "../src/domain/refused.ts";
import { OPERATIONS } from "../src/faces/staff-api/routes.ts";
import type { Limits } from "../src/office/limits.ts";
import type { Actor, Desk } from "../src/office/office.ts";
import { type Operation, perform } from "../src/office/operation.ts";
import { readStaff } from "../src/office/staff/sql.ts";
import type { Store } from "../src/store/store.ts";
import { TABLES } from "../src/store/tables.ts";
import { type OperationName, openTestService, prepareTopUp, type TestService } from "../test/support/open-service.ts";
import { deskOf } from "../test/support/plain-desk.ts";
import { ADMINS, EngineInputs, ZONE } from "./engine-inputs.ts";
import { Choices } from "./random.ts";

/*
 * Random sequences of everything that staff and partners can do, at the same times on both engines. Each answer must be
 * the same, to the last character and type, and so must all tables in the end.
 */

export interface EnginesOptions {
  readonly seed: number;
  /** Least number of times that each operation is tried. */
  readonly rounds: number;
  /** Path of a database of SQLite that is made. */
  readonly path: string;
  readonly openPostgres: NonNullable<Parameters<typeof openTestService>[0]["openStore"]>;
}

/** Operations that reach the outside, or show what is not in the database. */
const APART: ReadonlySet<string> = new Set([
  "POST /targets/:name/test",
  "PUT /targets/:name/radius",
  // Bulk changes are over here when they are answered.
  "POST /bulk/:id/pause",
  "POST /bulk/:id/continue",
  "GET /setup",
  "GET /attention",
]);

/** Operations with a route: the others are variants of them in the shell. */
const TRIED = OPERATIONS.filter(({ http }) => http !== undefined && !APART.has(http));

/** They need several steps before: a short story may meet their refusals alone. */
const OFTEN_REFUSED: ReadonlySet<string> = new Set([
  "GET /imports/:id",
  "POST /approvals/:id/confirm",
  "POST /approvals/:id/refuse",
  "POST /bulk/:id/cancel",
  "POST /bulk/:id/reversal",
  "POST /catalogue/revisions/:revision/withdraw",
  "POST /held-back",
  "POST /imports/:id/run",
]);

/** They list requests first, so that their ids are known. */
const DECISIONS = TRIED.filter((operation) => subjectOf(operation) === "approvals");

/** Operations of staff between two calls of partners. */
const BETWEEN_CALLS = 3;
/** At the same time, so that a lock that is missing shows. */
const CROWD = 3;

/** @throws AssertionError that says which answer or table differs. */
export async function engines({ seed, rounds, path, openPostgres }: EnginesOptions): Promise<string> {
  const sides = [
    await openTestService({ seed, path, timeZone: ZONE }),
    await openTestService({ seed, openStore: openPostgres, timeZone: ZONE }),
  ] as const;
  try {
    const story = new Story(sides, seed);
    await story.begin();
    await story.goOn(rounds);
    await story.end();
    return `${TRIED.length} operations, each ${rounds} times or more, ${story.done} of them done, and ${story.calls} calls of partners: equal on both engines`;
  } finally {
    for (const side of sides) await side.close();
  }
}

class Story {
  done = 0;
  calls = 0;
  readonly #sides: readonly [TestService, TestService];
  /** A desk for each admin, on each side. */
  #desks: readonly (readonly Desk[])[] = [];
  readonly #choices: Choices;
  readonly #inputs: EngineInputs;
  readonly #doneOf = new Map<Operation, number>();

  constructor(sides: readonly [TestService, TestService], seed: number) {
    this.#sides = sides;
    this.#choices = new Choices(seed);
    this.#inputs = new EngineInputs(this.#choices);
    this.#inputs.now = sides[0].now;
  }

  /** Fills both sides with a provider's catalogue, customers and partners. */
  async begin(): Promise<void> {
    this.#desks = this.#sides.map((side) => [deskFor(side, { name: "tester" })]);
    for (const [http, input] of this.#inputs.first()) {
      const operation = TRIED.find((each) => each.http === http);
      assert.ok(operation, `no operation is ${http}`);
      const answer = await this.#perform(operation, input);
      assert.equal(answer.refused, undefined, `${http} is refused: ${answer.said}`);
    }
    this.#desks = await Promise.all(
      this.#sides.map(async (side) =>
        (await readStaff(side.store.engine.db))
          .filter(({ name }) => ADMINS.includes(name))
          .map(({ id, name }) =>
            deskFor(side, { name, authority: { staffId: id, role: "admin", sessionId: undefined } }),
          ),
      ),
    );
  }

  async goOn(rounds: number): Promise<void> {
    const left = this.#choices.shuffled(TRIED.flatMap((operation) => Array<Operation>(rounds).fill(operation)));
    for (const operation of left) {
      this.#passTime();
      if (this.#choices.below(BETWEEN_CALLS) === 0) await this.#callOfPartner();
      if ((await this.#try(operation, false)) && isChange(operation)) await this.#useNext(operation);
      if (this.#choices.below(20) === 0) await this.#crowd();
    }
    this.done = [...this.#doneOf.values()].reduce((sum, count) => sum + count, 0);
    const never = TRIED.filter((operation) => !this.#doneOf.has(operation)).map(({ http }) => http ?? "");
    const unexpected = never.filter((http) => !OFTEN_REFUSED.has(http));
    assert.deepEqual(unexpected, [], "these operations were always refused");
  }

  /** Tries what uses the newest ids: operations on the same subject, and decisions on a request that was made. */
  async #useNext(operation: Operation): Promise<void> {
    const subject = subjectOf(operation);
    const uses = TRIED.filter((each) => subjectOf(each) === subject && isChange(each));
    for (const next of [this.#choices.of(uses), this.#choices.of(DECISIONS)]) {
      this.#passTime(1);
      await this.#try(next, true);
    }
  }

  /** @param isNext whether it uses what was made last. @returns whether the operation was done. */
  async #try(operation: Operation, isNext: boolean): Promise<boolean> {
    const input = this.#inputs.for(operation, isNext);
    if (input === undefined || (await this.#perform(operation, input)).refused !== undefined) return false;
    this.#doneOf.set(operation, (this.#doneOf.get(operation) ?? 0) + 1);
    return true;
  }

  /** Compares all tables, and lets each store check itself. */
  async end(): Promise<void> {
    const [ours, theirs] = await Promise.all(this.#sides.map(({ store }) => rowsOf(store)));
    for (const name of Object.keys(TABLES)) assert.deepEqual(theirs?.get(name), ours?.get(name), `table ${name}`);
    for (const { store } of this.#sides)
      for await (const event of store.check())
        if (event.kind === "wrong") assert.fail(`${store.provider.zone.name}: ${event.what}`);
  }

  #passTime(ms = this.#choices.of([1, 1_000, 40_000, 600_000, 600_000, 3_600_000, 20 * 3_600_000])): void {
    for (const side of this.#sides) side.now += ms;
    this.#inputs.now = this.#sides[0].now;
  }

  /** Runs an operation on both sides. @returns what both answered. */
  async #perform(operation: Operation, input: object): Promise<Answered> {
    const person = this.#choices.below(this.#desks[0]?.length ?? 0);
    const [ours, theirs] = await Promise.all(
      this.#desks.map((desks) => answerOf(operation, desks[person] as Desk, input)),
    );
    const asked = `${operation.http} ${JSON.stringify(input)}`;
    expectSame(theirs, ours, asked);
    const answered = ours as Answered;
    if (answered.refused === undefined) this.#inputs.learn(operation, answered.said);
    return answered;
  }

  async #callOfPartner(): Promise<void> {
    this.calls += 1;
    const kind = this.#choices.below(4);
    const of = this.#inputs.connection();
    const call = (operation: OperationName, body: object) =>
      this.#onBoth(`${operation} ${JSON.stringify(body)}`, (side) => side.call(operation, body, liveOf(side)));
    if (kind === 0) return call("get-customer-information", { code: of.cuid });
    if (kind === 1) return call("txn-status", { checkoutId: this.#inputs.checkoutId() });
    const bodies = await Promise.all(
      this.#sides.map((side) => prepareTopUp(side, of, undefined, liveOf(side)).catch(() => undefined)),
    );
    assert.deepEqual(bodies[1], bodies[0]);
    if (bodies[0] === undefined) return;
    const body: Record<string, string> = { ...bodies[0], udf1: this.#choices.of(["INV-1", "inv-1", "é", "Z"]) };
    this.#inputs.noteCheckout(body["checkoutId"] ?? "");
    await call("subscription-package-topup", body);
    if (kind === 3) await call("subscription-package-topup", body);
  }

  /** Some of the same work at the same time: in any order, it comes to the same on both sides. */
  async #crowd(): Promise<void> {
    const of = this.#inputs.connection();
    const goodwill = TRIED.find(({ http }) => http === "POST /customers/:cuid/goodwill") as Operation;
    const input = { ...of, environment: "production", days: 1, reason: "outage" };
    await this.#onBoth(`a crowd at ${JSON.stringify(of)}`, async (_, index) => {
      const desk = this.#desks[index]?.[0] as Desk;
      const answers = await Promise.all(Array.from({ length: CROWD }, () => answerOf(goodwill, desk, input)));
      return answers.map(({ said, refused }) => refused ?? said).sort();
    });
    const bodies = await Promise.all(
      this.#sides.map((side) => prepareTopUp(side, of, undefined, liveOf(side)).catch(() => undefined)),
    );
    const [body] = bodies;
    if (body === undefined) return;
    await this.#onBoth("a crowd with one checkout", async (side) => {
      const sent = Array.from({ length: CROWD }, () => side.call("subscription-package-topup", body, liveOf(side)));
      return (await Promise.all(sent)).map(({ status, json }) => [status, json.body]);
    });
  }

  async #onBoth(what: string, work: (side: TestService, index: number) => Promise<unknown>): Promise<void> {
    const [ours, theirs] = await Promise.all(this.#sides.map(work));
    expectSame(plain(theirs), plain(ours), what);
  }
}

/** @throws AssertionError with what stands at the first difference: answers may be long. */
function expectSame(theirs: unknown, ours: unknown, what: string): void {
  const texts = [ours, theirs].map((each) => JSON.stringify(each) ?? "");
  const [one = "", other = ""] = texts;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const [onSqlite, onPostgres] = texts.map((text) => text.slice(Math.max(at - 200, 0), at + 200));
  assert.equal(onPostgres, onSqlite, `${what}, from character ${at}`);
}

function isChange({ http = "" }: { readonly http?: string }): boolean {
  return !http.startsWith("GET");
}

/** The first part of a route. */
function subjectOf({ http = "" }: { readonly http?: string }): string {
  return /\/([\w-]+)/.exec(http)?.[1] ?? "";
}

/** Amounts and numbers above which a change needs a second person, or is refused to the role support. */
const LIMITS: Limits = {
  supportGoodwillDays: 400,
  supportBulk: 2_000,
  secondPersonBulk: 3,
  secondPersonReversal: 50_000n,
  secondPersonMoney: 300_000n,
};

function deskFor({ ports }: TestService, actor: Actor): Desk {
  const accounts = { hashPassword: async (password: string) => `hash of ${password}` } as never;
  const targets = { problemOf: async () => undefined, newSecret: async () => "whsec_c2VjcmV0" } as never;
  const limits = actor.authority === undefined ? undefined : LIMITS;
  return deskOf(ports, actor, { accounts, targets, limits });
}

const liveOf = ({ liveToken: token }: TestService) => ({ token });

interface Answered {
  /** The answer as JSON, or the words of the refusal. */
  readonly said: string;
  /** Code of the refusal. */
  readonly refused: string | undefined;
}

async function answerOf(operation: Operation, desk: Desk, input: object): Promise<Answered> {
  try {
    const answer = await perform(operation, desk, input as Record<string, unknown>);
    return { said: JSON.stringify(await whole(operation.answer, answer)) ?? "", refused: undefined };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { said: `${error.words((field) => field)} ${JSON.stringify(error.problems)}`, refused: error.code };
  }
}

/** Reads a stream of rows to its end. Other answers must fit their schemas. */
async function whole(schema: TSchema | undefined, answer: unknown): Promise<unknown> {
  if (schema === undefined) return answer;
  if (!("rows" in schema)) {
    assert.deepEqual(Value.Errors(schema, answer), []);
    return answer;
  }
  const rows: unknown[] = [];
  for await (const page of answer as AsyncIterable<readonly unknown[]>) rows.push(...page);
  return rows;
}

/** An answer of a partner's call without the id of the request. */
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key === "requestId" || key === "headers" ? undefined : value,
  );
}

/** All rows of each table, in an order of their own. Each session of PostgreSQL adds to sums of its own. */
async function rowsOf({ engine }: Store): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [name, table] of Object.entries(TABLES)) {
    const key = camelCased(name);
    const rows = (await engine.db
      .selectFrom(key as "partner")
      .selectAll()
      .execute()) as Record<string, unknown>[];
    // SQLite has columns of its own, which link the entries of a ledger.
    const columns = Object.keys(table.columns).map(camelCased);
    const shared = rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
    found.set(name, name === "sales_day" ? summed(shared) : shared.map(textOf).sort());
  }
  return found;
}

function camelCased(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function textOf(row: Record<string, unknown>): string {
  const values = Object.keys(row)
    .sort()
    .map((column) => [
      column,
      row[column] instanceof Uint8Array ? Buffer.from(row[column]).toString("hex") : row[column],
    ]);
  return JSON.stringify(values);
}

const SUMMED = ["topUps", "commission", "reversals", "returned"];

function summed(rows: readonly Record<string, unknown>[]): string[] {
  const sums = new Map<string, number[]>();
  for (const { lane: _, ...row } of rows) {
    const label = textOf(Object.fromEntries(Object.entries(row).filter(([column]) => !SUMMED.includes(column))));
    const known = sums.get(label) ?? SUMMED.map(() => 0);
    sums.set(
      label,
      known.map((sum, index) => sum + Number(row[SUMMED[index] as string])),
    );
  }
  return [...sums].map(([label, counts]) => `${label} ${counts.join(" ")}`).sort();
}

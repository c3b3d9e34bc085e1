import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import pg from "pg";
import { expectTopupd, type Ground } from "./processes.ts";

/*
 * An audit of a database that shares no code with the server: SQL and arithmetic, written from docs/ledger.md,
 * docs/architecture.md and the schema. A mistake of the server's rules would be a mistake in its own check too.
 */

/** A top-up as it was acknowledged; answers that say less leave fields out. */
export interface ToldTopUp {
  readonly checkoutId: string;
  readonly txnId: string;
  readonly cuid: string;
  readonly service: string;
  readonly reqId: string;
  readonly bouquetCode: string;
  /** Minor units. */
  readonly amount: number | bigint;
  readonly txnDate?: string;
}

/** Answers that partners and staff got. */
export class Told {
  /** The key is the checkoutId. */
  readonly topUps = new Map<string, ToldTopUp>();
  readonly never = new Set<string>();
  /** Refused by balance or limit. */
  readonly refused = new Set<string>();
  /** The txnIds of reversed top-ups. */
  readonly reversed = new Set<string>();

  /**
   * Notes an answer of subscription-package-topup or txn-status, with amounts of two decimals.
   * @throws Error if it is of another checkoutId, or another top-up was acknowledged for this one.
   */
  hear(checkoutId: string, text: string): void {
    const { code, body } = JSON.parse(text);
    if (code === "400ab108") this.never.add(checkoutId);
    if (code === "400ab109" || code === "400ab110") this.refused.add(checkoutId);
    const { result } = body ?? {};
    if (result !== undefined && result.orderId !== checkoutId)
      throw new Error(`asked for ${checkoutId}, and told ${text}`);
    if (result !== undefined)
      this.note({
        ...result,
        checkoutId,
        bouquetCode: result.bouquetId,
        amount: Math.round(result.amt * 100),
      });
  }

  /** @throws Error if another top-up was acknowledged for the checkoutId. */
  note(topUp: ToldTopUp): void {
    const before = this.topUps.get(topUp.checkoutId);
    if (before !== undefined && differs(before, topUp))
      throw new Error(`acknowledged as ${JSON.stringify(before)}, and then as ${JSON.stringify(factsOf(topUp))}`);
    if (before === undefined) this.topUps.set(topUp.checkoutId, factsOf(topUp));
  }
}

const FACTS = ["checkoutId", "txnId", "cuid", "service", "reqId", "bouquetCode", "amount", "txnDate"] as const;

function factsOf(topUp: ToldTopUp): ToldTopUp {
  const facts = FACTS.map((name) => [name, topUp[name]]);
  return { ...Object.fromEntries(facts), amount: Number(topUp.amount) };
}

/** Whether two texts of a top-up deny each other. */
function differs(a: ToldTopUp, b: ToldTopUp): boolean {
  const [one, other] = [factsOf(a), factsOf(b)];
  return FACTS.some((name) => one[name] !== undefined && other[name] !== undefined && one[name] !== other[name]);
}

/** One view of a database. Integers are below 2^53; larger sums are compared by the database. */
interface View {
  readonly isSqlite: boolean;
  readonly rows: <Row>(sql: string) => AsyncIterable<Row>;
}

function sqliteView(file: DatabaseSyncInstance): View {
  return {
    isSqlite: true,
    async *rows<Row>(sql: string) {
      yield* file.prepare(sql).iterate() as unknown as Iterable<Row>;
    },
  };
}

const ROWS_AT_ONCE = 5_000;
const INTEGERS = [20, 23];
const { getTypeParser } = pg.types;
const types = { getTypeParser: (oid: number) => (INTEGERS.includes(oid) ? Number : getTypeParser(oid)) };

/** @param client a session in a transaction. */
export function postgresView(client: pg.ClientBase): View {
  let opened = 0;
  return {
    isSqlite: false,
    async *rows<Row>(sql: string) {
      const cursor = `rows_${++opened}`;
      await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`);
      for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; ) {
        const { rows } = await client.query({ text: `FETCH ${ROWS_AT_ONCE} FROM ${cursor}`, types: types as never });
        yield* rows as Row[];
        count = rows.length;
      }
      await client.query(`CLOSE ${cursor}`);
    },
  };
}

/**
 * The driver holds a closed file open until its statements are garbage-collected. If this process copies the file
 * meanwhile, its locks are lost: audit a copy that nothing else reads.
 * @param address as in TOPUPD_DATABASE, or the path of a SQLite file.
 */
async function withView<Result>(address: string, work: (view: View) => Promise<Result>): Promise<Result> {
  if (/^postgres(ql)?:/.test(address)) {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return await work(postgresView(client));
    } finally {
      await client.end();
    }
  }
  const file = new DatabaseSync(address.replace(/^sqlite:/, ""), { timeout: 10_000 });
  try {
    file.exec("BEGIN");
    return await work(sqliteView(file));
  } finally {
    file.close();
  }
}

/** @param address as in TOPUPD_DATABASE. @returns all rows. */
export function rowsIn<Row>(address: string, sql: string): Promise<Row[]> {
  return withView(address, (view) => all<Row>(view, sql));
}

/** All rows of a small table. */
async function all<Row>(view: View, sql: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of view.rows<Row>(sql)) rows.push(row);
  return rows;
}

/**
 * Audits a database, in one view.
 * @param address as in TOPUPD_DATABASE, or the path of a SQLite file.
 * @returns what is wrong; empty if nothing is.
 */
export function audit(address: string, told: Told): Promise<string[]> {
  return withView(address, (view) => auditView(view, told));
}

export async function auditView(view: View, told: Told): Promise<string[]> {
  const { wallOf, wholeFrom } = await datesOf(view);
  const found: string[] = [];
  const wrong = (what: string) => void (found.length < MOST_FINDINGS && found.push(what));
  if (view.isSqlite) {
    const states = await all<{ integrity_check: string }>(view, "PRAGMA integrity_check");
    for (const { integrity_check: state } of states) if (state !== "ok") wrong(`the file: ${state}`);
  }
  for (const [what, sql] of questions(wholeFrom))
    for await (const { name } of view.rows<{ name: string }>(sql)) wrong(`${what}: ${name}`);
  await auditTopUps(view, told, wallOf, wrong);
  await auditRetired(view, told, wrong);
  await auditEvents(view, await auditLedgers(view, wallOf, wrong), wrong);
  await auditTrail(view, wrong);
  return found;
}

/** The provider's clock, and the first day whose history is whole: of earlier ones only sums are left. */
async function datesOf(view: View) {
  const [provider] = await all<{ time_zone: string }>(view, "SELECT time_zone FROM provider");
  const [retention] = await all<{ pruned_before: number }>(view, "SELECT pruned_before FROM retention");
  const style = { dateStyle: "short", timeStyle: "medium" } as const;
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: provider?.time_zone, ...style });
  const wallOf = (at: number) => format.format(at);
  const wholeFrom = retention === undefined ? "" : plus(wallOf(retention.pruned_before), 0, 1).slice(0, 10);
  return { wallOf, wholeFrom };
}

const MOST_FINDINGS = 100;
type Wrong = (what: string) => void;
type WallOf = (at: number) => string;

/** Queries that find wrong rows, each with its words. @param from the first day whose history is whole. */
function questions(from: string): readonly (readonly [what: string, sql: string])[] {
  const sold = "partner_id, environment, day, service, bouquet_code, amount, sold_on";
  return [
    [
      "a top-up and a ledger entry that are not of each other",
      `SELECT coalesce(t.txn_id, e.txn_id) AS name FROM top_up AS t
         FULL JOIN (SELECT * FROM ledger_entry WHERE kind = 'top_up') AS e ON e.txn_id = t.txn_id
       WHERE t.txn_id IS NULL OR e.txn_id IS NULL OR t.cuid <> e.cuid OR t.environment <> e.environment
         OR t.service <> e.service OR t.req_id <> e.req_id OR t.bouquet_code <> e.code OR t.at <> e.at OR t.txn_date <> e.wall`,
    ],
    [
      "a top-up with two ledger entries",
      "SELECT txn_id AS name FROM ledger_entry WHERE txn_id IS NOT NULL GROUP BY txn_id HAVING count(*) > 1",
    ],
    [
      "a top-up whose status is not that of its reversal",
      `SELECT t.txn_id AS name FROM top_up AS t LEFT JOIN reversal AS r ON r.txn_id = t.txn_id
       WHERE (t.status = 'reversed') <> (r.txn_id IS NOT NULL) OR r.partner_id <> t.partner_id OR r.environment <> t.environment`,
    ],
    [
      "a reversal and a ledger entry that are not of each other",
      `SELECT coalesce(r.txn_id, e.txn_id) AS name FROM reversal AS r FULL JOIN
         (SELECT t.txn_id, v.at, v.wall, v.author, v.reason FROM ledger_entry AS v JOIN ledger_entry AS t ON t.cuid = v.cuid
            AND t.environment = v.environment AND t.service = v.service AND t.req_id = v.req_id AND t.plan = v.plan
            AND t.seq = v.reverses WHERE v.kind = 'reversal' AND t.kind = 'top_up') AS e ON e.txn_id = r.txn_id
       WHERE r.txn_id IS NULL OR e.txn_id IS NULL OR r.at <> e.at OR r.wall <> e.wall OR r.author <> e.author
         OR r.reason <> e.reason`,
    ],
    [
      "a top-up of a retired checkout",
      "SELECT txn_id AS name FROM top_up AS t JOIN retired_checkout AS r ON r.checkout_id = t.checkout_id",
    ],
    [
      "sums of a day that are not those of its top-ups and reversals",
      `SELECT day || ' ' || service || ' ' || bouquet_code AS name FROM (
         SELECT ${sold}, top_ups, commission, reversals, returned FROM sales_day
         UNION ALL SELECT partner_id, environment, substr(txn_date, 1, 10), service, bouquet_code, amount,
           substr(txn_date, 1, 10), -1, -commission, 0, 0 FROM top_up
         UNION ALL SELECT t.partner_id, t.environment, substr(r.wall, 1, 10), service, bouquet_code, amount,
           substr(txn_date, 1, 10), 0, 0, -1, -commission FROM reversal AS r JOIN top_up AS t ON t.txn_id = r.txn_id) AS sums
       WHERE day >= '${from}' GROUP BY ${sold}
       HAVING sum(top_ups) <> 0 OR sum(commission) <> 0 OR sum(reversals) <> 0 OR sum(returned) <> 0`,
    ],
    [
      "a balance that is not the sum of entries, charges and returns",
      `SELECT a.partner_id || ' ' || a.environment AS name FROM account AS a LEFT JOIN (
         SELECT partner_id, environment, amount FROM account_entry UNION ALL SELECT partner_id, environment,
           commission - top_ups * amount + reversals * amount - returned FROM sales_day) AS e
         ON e.partner_id = a.partner_id AND e.environment = a.environment
       WHERE balance IS NOT NULL GROUP BY a.partner_id, a.environment, balance HAVING balance <> coalesce(sum(e.amount), 0)`,
    ],
    [
      "a sale that is not of its top-up or shift",
      `SELECT s.txn_id AS name FROM sale AS s LEFT JOIN top_up AS t ON t.txn_id = s.txn_id
         LEFT JOIN shift AS f ON f.id = s.shift_id LEFT JOIN shift AS g ON g.id = s.returned_shift
       WHERE t.txn_id IS NULL OR t.partner_id <> s.partner_id OR t.environment <> s.environment
         OR f.seller <> s.seller OR f.partner_id <> s.partner_id OR f.environment <> s.environment
         OR g.partner_id <> s.partner_id OR g.environment <> s.environment
         OR (s.shift_id IS NOT NULL AND f.closed_at IS NULL) OR (s.returned_shift IS NOT NULL AND t.status <> 'reversed')`,
    ],
    [
      "a shift whose expected cash is not that of its sales",
      `SELECT f.id || ' of ' || f.seller AS name FROM shift AS f LEFT JOIN (
         SELECT shift_id AS id, amount FROM sale AS s JOIN top_up AS t ON t.txn_id = s.txn_id WHERE method = 'cash'
         UNION ALL SELECT returned_shift, -amount FROM sale AS s JOIN top_up AS t ON t.txn_id = s.txn_id) AS c ON c.id = f.id
       WHERE closed_at IS NOT NULL GROUP BY f.id, f.seller, opened_at, opening, expected, cash_rows
       HAVING (expected <> opening + coalesce(sum(c.amount), 0) OR cash_rows <> count(c.id))
         AND NOT (count(c.id) < cash_rows AND EXISTS (SELECT 1 FROM retention WHERE opened_at < pruned_before))`,
    ],
  ];
}

interface TopUp {
  readonly checkout_id: string;
  readonly txn_id: string;
  readonly partner_id: number;
  readonly environment: string;
  readonly cuid: string;
  readonly service: string;
  readonly req_id: string;
  readonly bouquet_code: string;
  readonly amount: number;
  readonly at: number;
  readonly txn_date: string;
  readonly status: string;
  readonly quote: string | null;
}

const CHECKOUT_VALID_MS = 300_000;
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Each top-up is what its checkout quoted, and what its partner was told. */
async function auditTopUps(view: View, told: Told, wallOf: WallOf, wrong: Wrong): Promise<void> {
  const offer = "code || ' ' || plan || ' ' || name || ' ' || add_on || ' ' || months || ' ' || days";
  const bouquets = await all<{ revision: number; service: string; code: string; price: number; quote: string }>(
    view,
    `SELECT revision, service, code, price, ${offer} AS quote FROM bouquet`,
  );
  const quoted = new Map(bouquets.map((each) => [[each.revision, each.service, each.code].join(" "), each]));
  const secrets = await all<{ id: number; key: Uint8Array; created_at: number }>(view, "SELECT * FROM checkout_secret");
  const left = new Map(told.topUps);
  const rows = view.rows<TopUp>(`SELECT t.*, e.quote FROM top_up AS t LEFT JOIN
    (SELECT txn_id, ${offer} AS quote FROM ledger_entry WHERE kind = 'top_up') AS e ON e.txn_id = t.txn_id`);
  for await (const topUp of rows) {
    const { checkout_id: checkoutId, txn_id: txnId, environment, cuid, service, req_id: reqId, amount, at } = topUp;
    const { bouquet_code: bouquetCode, txn_date: txnDate, partner_id: partnerId, quote } = topUp;
    const checkout = Buffer.from(checkoutId, "base64url");
    const issuedAt = checkout.readUIntBE(1, 6);
    const offered = quoted.get([checkout.readUIntBE(7, 3), service, bouquetCode].join(" "));
    if (offered?.price !== amount) wrong(`a top-up that is not at the price of its checkout: ${txnId}`);
    if (offered?.quote !== quote) wrong(`a top-up that is not the bouquet of its checkout: ${txnId}`);
    if (at - issuedAt > CHECKOUT_VALID_MS) wrong(`a top-up after its checkout expired: ${txnId}`);
    const ofCustomer = sha256(`${environment}:${cuid}`).subarray(0, 4);
    const ofConnection = sha256(checkout.subarray(20, 36), JSON.stringify([cuid, service, reqId])).subarray(0, 6);
    if (!checkout.subarray(10, 20).equals(Buffer.concat([ofCustomer, ofConnection])))
      wrong(`a top-up of another connection than its checkout: ${txnId}`);
    // A younger secret has replaced that of an old checkout.
    const secret = secrets.find(({ id, created_at }) => id === ((checkout[0] ?? 0) & 15) && created_at <= issuedAt);
    if (secret !== undefined) {
      const seal = createHmac("sha256", secret.key).update(`${environment}:${partnerId}:`);
      if (!seal.update(checkout.subarray(0, 36)).digest().subarray(0, 12).equals(checkout.subarray(36)))
        wrong(`a top-up of another partner than its checkout: ${txnId}`);
    }
    const time = Array.from(txnId.slice(0, 10)).reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0);
    if (time !== at || wallOf(at) !== txnDate) wrong(`a top-up whose time is not that of its txnId or date: ${txnId}`);
    const facts = { checkoutId, txnId, cuid, service, reqId, bouquetCode, amount, txnDate };
    const expected = left.get(checkoutId) ?? told.topUps.get(checkoutId);
    if (expected !== undefined && differs(expected, facts))
      wrong(
        `a top-up that is not as it was acknowledged: ${JSON.stringify(expected)}, and now ${JSON.stringify(facts)}`,
      );
    if (expected !== undefined && !left.delete(checkoutId)) wrong(`a top-up that is there twice: ${txnId}`);
    if (told.reversed.has(txnId) && topUp.status !== "reversed")
      wrong(`a reversal that was acknowledged and is not there: ${txnId}`);
    if (told.never.has(checkoutId)) wrong(`a top-up after never_topped_up: ${txnId}`);
    if (told.refused.has(checkoutId)) wrong(`a top-up after it was refused by balance or limit: ${txnId}`);
  }
  for (const { txnId } of left.values()) wrong(`a top-up that was acknowledged and is not there: ${txnId}`);
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  return parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
}

/** Whoever was told that nothing will follow has that on record. */
async function auditRetired(view: View, told: Told, wrong: Wrong): Promise<void> {
  const rows = await all<{ checkout_id: string; reason: string | null }>(view, "SELECT * FROM retired_checkout");
  const retired = new Map(rows.map((row) => [row.checkout_id, row.reason]));
  for (const checkoutId of told.never)
    if (!retired.has(checkoutId)) wrong(`a checkout after never_topped_up that is not retired: ${checkoutId}`);
  for (const checkoutId of told.refused)
    if ((retired.get(checkoutId) ?? null) === null) wrong(`a refused checkout that is not retired: ${checkoutId}`);
}

/** The subscription after an entry, by the names of the columns. */
const STATE = [
  ...(["code", "name", "add_on", "start", "anchor", "months", "days", "inclusive", "end", "since"] as const),
  "goodwill_days",
] as const;

interface State {
  readonly code: string;
  readonly name: string;
  readonly add_on: number;
  readonly start: string;
  readonly anchor: string;
  readonly months: number;
  readonly days: number;
  readonly inclusive: number;
  readonly end: string;
  readonly since: number;
  readonly goodwill_days: number;
}

/** Columns that the kind of the entry does not have are null. */
interface Entry extends Pick<State, "code" | "name" | "add_on" | "months" | "days"> {
  /** Row id, and that of the entry before it; in SQLite only. */
  readonly id?: number;
  readonly previous?: number | null;
  readonly ledger: string;
  readonly seq: number;
  readonly kind: "top_up" | "goodwill" | "reversal" | "import";
  readonly at: number;
  readonly wall: string;
  readonly txn_id: string;
  readonly reverses: number;
  readonly as_of: number;
  readonly goodwill: "held" | "lacking";
  readonly stated_start: string;
  readonly stated_end: string;
  readonly unit: "month" | "day";
  readonly run_since: number;
}

type Stored = Readonly<Record<string, unknown>>;

const LEDGER = "cuid || ' ' || environment || ' ' || service || ' ' || req_id || ' ' || plan AS ledger";

/** An entry of a top-up, or of its reversal, as its event must tell of it. */
interface Fact {
  readonly ledger: string;
  readonly seq: number;
  readonly at: number;
  readonly end: string | undefined;
}

/** Each entry follows from those before it, and subscriptions are those of the last ones. @returns facts for events. */
async function auditLedgers(view: View, wallOf: WallOf, wrong: Wrong): Promise<Map<string, Fact>> {
  const heads = new Map<string, Stored>();
  const named = `start_time AS start, anchor_time AS anchor, end_time AS "end"`;
  for await (const row of view.rows<Stored>(`SELECT s.*, ${LEDGER}, ${named} FROM subscription AS s`))
    heads.set(row["ledger"] as string, row);
  const facts = new Map<string, Fact>();
  let ledger: Entry[] = [];
  let reversedAt = new Map<number, number>();
  let before: State | undefined;
  const endLedger = () => {
    const last = ledger.at(-1);
    if (last === undefined) return;
    const head = heads.get(last.ledger);
    heads.delete(last.ledger);
    const isLast = head?.["seq"] === last.seq && head["last_entry"] === last.id;
    if (!isLast || !isState(head, "", before)) wrong(`a subscription that is not its last entry's: ${last.ledger}`);
  };
  for await (const row of view.rows<Entry & Stored>(
    `SELECT e.*, ${LEDGER} FROM ledger_entry AS e ORDER BY cuid, environment, service, req_id, plan, seq`,
  )) {
    const former = ledger.at(-1);
    const isFirst = row.ledger !== former?.ledger;
    if (isFirst) {
      endLedger();
      [ledger, reversedAt, before] = [[], new Map(), undefined];
    }
    const where = `${row.ledger}, entry ${row.seq}`;
    if (!isFirst && row.seq !== former.seq + 1) wrong(`a ledger with a gap: ${where}`);
    // The first entry that was kept points to one that was deleted.
    if (view.isSqlite && (!isFirst || row.seq === 1) && row.previous !== (isFirst ? null : former.id))
      wrong(`an entry that does not point to the one before it: ${where}`);
    if (row.wall !== wallOf(row.at)) wrong(`an entry whose date is not its time: ${where}`);
    ledger.push(row);
    const reversed = row.kind === "reversal" ? ledger.find(({ seq }) => seq === row.reverses) : undefined;
    if (row.kind === "reversal") {
      if (!isGrant(reversed) || reversedAt.has(row.reverses)) wrong(`a reversal of nothing: ${where}`);
      reversedAt.set(row.reverses, row.at);
    }
    // What came before the first entry that was kept is unknown.
    const isOpening = isFirst && row.seq > 1;
    const expected = isOpening ? stored(row) : stateAfter(before, ledger, reversedAt);
    if (!isState(row, "after_", expected)) wrong(`an entry that does not follow from those before it: ${where}`);
    before = stored(row);
    if (before !== undefined && before.end !== endOf(before, before.months, before.days))
      wrong(`an end that is not its anchor, months and days: ${where}`);
    const fact = { ledger: row.ledger, seq: row.seq, at: row.at, end: before?.end };
    if (row.kind === "top_up") facts.set(`topup.recorded ${row.txn_id}`, fact);
    if (reversed?.kind === "top_up") facts.set(`topup.reversed ${reversed.txn_id}`, fact);
  }
  endLedger();
  for (const name of heads.keys()) wrong(`a subscription without an entry: ${name}`);
  return facts;
}

function isState(row: Stored | undefined, prefix: string, state: State | undefined): boolean {
  return row !== undefined && STATE.every((name) => row[prefix + name] === (state?.[name] ?? null));
}

function stored(row: Stored): State | undefined {
  if (row["after_code"] === null) return undefined;
  return Object.fromEntries(STATE.map((name) => [name, row[`after_${name}`]])) as unknown as State;
}

function isGrant(entry: Entry | undefined): boolean {
  return entry?.kind === "top_up" || entry?.kind === "goodwill";
}

type Reversed = ReadonlyMap<number, number>;

/** The state after the last entry. @param before the state that is on record before it. */
function stateAfter(before: State | undefined, ledger: readonly Entry[], reversedAt: Reversed): State | undefined {
  const last = ledger.at(-1) as Entry;
  if (isGrant(last)) return granted(before, last);
  return last.kind === "reversal"
    ? recount(ledger, reversedAt).at(-1)
    : restated(last, ledger.slice(0, -1), reversedAt);
}

/** The state after each entry, as if what is reversed had never been made. */
function recount(ledger: readonly Entry[], reversedAt: Reversed): (State | undefined)[] {
  let state: State | undefined;
  return ledger.map((entry, index) => {
    if (entry.kind === "import") state = restated(entry, ledger.slice(0, index), reversedAt);
    else if (isGrant(entry) && !reversedAt.has(entry.seq)) state = granted(state, entry);
    return state;
  });
}

/** Before the end, time is added to the run. At the end or later, a new run begins. */
function granted(before: State | undefined, { kind, wall, seq, code, name, add_on, months, days }: Entry): State {
  const label = { code, name, add_on };
  const counted = { start: wall, anchor: wall, months: 0, days: 0, inclusive: 0, end: wall, goodwill_days: 0 };
  const run = before !== undefined && before.end > wall ? before : { ...label, ...counted, since: seq };
  if (kind === "top_up") return lengthened({ ...run, ...label }, months, days);
  return lengthened({ ...run, goodwill_days: run.goodwill_days + days }, 0, days);
}

function lengthened(run: State, months: number, days: number): State {
  const counted = { months: run.months + months, days: run.days + days };
  return { ...run, ...counted, end: endOf(run, counted.months, counted.days) };
}

function endOf({ anchor, inclusive }: State, months: number, days: number): string {
  const end = plus(anchor, months, days);
  return inclusive === 1 && end !== BEYOND ? wallAt(msOf(end) - 1_000) : end;
}

/** The subscription that records state, less what they hold and was reversed since, plus what they lack. */
function restated(records: Entry, ledger: readonly Entry[], reversedAt: Reversed): State | undefined {
  const { as_of: asOf, goodwill, run_since: since, code } = records;
  let state = (code as string | null) === null ? undefined : stated(records);
  const grants = ledger.filter((entry) => isGrant(entry) && entry.seq >= since);
  const isHeld = ({ at, kind }: Entry) => at <= asOf && (kind === "top_up" || goodwill === "held");
  for (const { seq, kind, months, days } of grants.filter(isHeld)) {
    if (state === undefined) break;
    const reversed = reversedAt.get(seq);
    if (reversed === undefined && kind === "goodwill") state = { ...state, goodwill_days: state.goodwill_days + days };
    if (reversed !== undefined && reversed > asOf) state = lengthened(state, -months, -days);
  }
  if (state !== undefined && state.end <= state.start) state = undefined;
  const start = state?.start ?? "";
  const unlessEndless = (longer: State) => (longer.end === BEYOND ? state : longer);
  if (state !== undefined && goodwill === "lacking") {
    const days = daysBeyond(start, records, ledger, reversedAt);
    state = unlessEndless(lengthened({ ...state, goodwill_days: state.goodwill_days + days }, 0, days));
  }
  for (const grant of grants)
    if (!isHeld(grant) && !reversedAt.has(grant.seq) && (grant.at > asOf || grant.wall >= start))
      state = unlessEndless(granted(state, grant));
  return state;
}

/** The whole days by which goodwill from before a stated start reached beyond it: what it had bridged is used up. */
function daysBeyond(
  start: string,
  { as_of: asOf, run_since: since }: Entry,
  ledger: readonly Entry[],
  reversedAt: Reversed,
) {
  const last = ledger.findLastIndex(({ at, wall }) => wall < start && at <= asOf);
  const before = ledger.slice(0, last + 1).filter(({ seq }) => seq >= since);
  if (!before.some(({ kind, seq }) => kind === "goodwill" && !reversedAt.has(seq))) return 0;
  const full = (run: State | undefined) => (run === undefined ? "" : plus(run.anchor, run.months, run.days));
  const reached = full(recount(ledger, reversedAt)[last]);
  const paid = full(
    recount(
      before.filter(({ kind }) => kind !== "goodwill"),
      reversedAt,
    ).at(-1),
  );
  const days = Math.floor((msOf(reached) - msOf(paid > start ? paid : start)) / DAY_MS);
  return reached === "" ? 0 : Math.max(0, days);
}

/** A subscription of records: counted from its start if whole units lie between start and end, else from its end. */
function stated({ code, name, add_on, stated_start: start, stated_end: end, unit, run_since: since }: Entry): State {
  const run = { code, name, add_on, start, end, since, goodwill_days: 0 };
  const isLastSecond = end.endsWith(" 23:59:59") && !end.startsWith("9999-12-31");
  const midnight = isLastSecond ? wallAt(msOf(end) + 1_000) : "";
  for (const [until, inclusive] of [
    [end, 0],
    [midnight, 1],
  ] as const) {
    const apart = unit === "month" ? monthOf(until) - monthOf(start) : (msOf(until) - msOf(start)) / DAY_MS;
    for (const count of [apart, apart - 1]) {
      const period = unit === "month" ? { months: count, days: 0 } : { months: 0, days: count };
      if (count >= 0 && Number.isInteger(count) && plus(start, period.months, period.days) === until)
        return { ...run, anchor: start, ...period, inclusive };
    }
  }
  const isMonthEnd = midnight.slice(8, 10) === "01";
  return { ...run, anchor: isMonthEnd ? midnight : end, months: 0, days: 0, inclusive: isMonthEnd ? 1 : 0 };
}

const DAY_MS = 86_400_000;
/** A time after the year 9999. It sorts after all others. */
const BEYOND = "~";

const msOf = (wall: string) => Date.parse(`${wall.replace(" ", "T")}Z`);
const monthOf = (wall: string) => Number(wall.slice(0, 4)) * 12 + Number(wall.slice(5, 7));

function wallAt(ms: number): string {
  const text = new Date(ms).toISOString();
  return /^\d/.test(text) ? text.slice(0, 19).replace("T", " ") : BEYOND;
}

/** Adds months to a wall time, limited to the last day of the month, then days. */
export function plus(wall: string, months: number, days: number): string {
  if (wall === BEYOND) return BEYOND;
  const [year, month, day] = wall.slice(0, 10).split("-").map(Number) as [number, number, number];
  const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  const date = wallAt(Date.UTC(year, month - 1 + months, Math.min(day, lastDay) + days));
  return date === BEYOND ? date : date.slice(0, 10) + wall.slice(10);
}

interface Event {
  readonly seq: number;
  readonly kind: string;
  readonly at: number;
  readonly environment: string;
  readonly cuid: string | null;
  readonly service: string;
  readonly req_id: string;
  readonly state: string;
}

/** A top-up is recorded within this time of its decision, and a target is added within it. */
const SETTLED_WITHIN_MS = 60_000;

/** Each top-up and reversal since the first target has one event, in the order of its ledger. */
async function auditEvents(view: View, facts: ReadonlyMap<string, Fact>, wrong: Wrong): Promise<void> {
  const seen = new Set<string>();
  const lastOf = new Map<string, number>();
  let [first, last]: [Event | undefined, number] = [undefined, 0];
  for await (const event of view.rows<Event>("SELECT * FROM event ORDER BY seq")) {
    const { seq, kind, at, cuid, environment, service, req_id } = event;
    first ??= event;
    if (event !== first && seq !== last + 1) wrong(`a gap in the numbers of events: before ${seq}`);
    last = seq;
    const { txnId, subscriptions } = JSON.parse(event.state);
    if (cuid === null || txnId === undefined) continue;
    const [name, connection] = [`${kind} ${txnId}`, `${[cuid, environment, service, req_id].join(" ")} `];
    const fact = facts.get(name);
    if (fact === undefined || fact.at !== at || !fact.ledger.startsWith(connection)) {
      wrong(`an event that is not of its top-up: ${name}`);
      continue;
    }
    const plan = fact.ledger.slice(connection.length);
    const own = subscriptions.find((each: { readonly plan: string }) => each.plan === plan);
    if (own?.end !== fact.end) wrong(`an event whose end is not that of its entry: ${name}`);
    const former = lastOf.get(fact.ledger) ?? 0;
    if (seen.has(name)) wrong(`an event that is there twice: ${name}`);
    else if (fact.seq <= former) wrong(`an event that is out of order: ${name}`);
    seen.add(name);
    lastOf.set(fact.ledger, Math.max(former, fact.seq));
  }
  const [{ since } = { since: null }] = await all<{ since: number | null }>(
    view,
    "SELECT min(created_at) AS since FROM target",
  );
  if (since === null) return;
  // Events that all targets have are deleted, oldest first, and the last one never is.
  const from = Math.max(since, first === undefined || first.seq === 1 ? 0 : first.at) + SETTLED_WITHIN_MS;
  const begun = new Set<string>();
  for (const [name, { ledger, at }] of facts)
    if (seen.has(name)) begun.add(ledger);
    else if (begun.has(ledger) || at > from) wrong(`a top-up or reversal without an event: ${name}`);
}

/** Each entry of the audit trail has the hash of the one before it. */
async function auditTrail(view: View, wrong: Wrong): Promise<void> {
  let [last, hash] = [0, "0".repeat(64)];
  type Change = Readonly<Record<string, string | number | null>> & { readonly seq: number; readonly hash: string };
  for await (const row of view.rows<Change>("SELECT * FROM audit_entry ORDER BY seq")) {
    const what = [row["author"], row["by_staff"] === 1, row["action"], row["subject"]];
    const said = [hash, row.seq, row["at"], ...what, row["reason"], row["before"], row["after"]];
    if (row.seq !== last + 1 || row.hash !== sha256(JSON.stringify(said)).toString("hex"))
      wrong(`an entry of the audit trail that does not follow from the one before it: ${row.seq}`);
    [last, hash] = [row.seq, row.hash];
  }
}

interface Line {
  readonly day: string;
  readonly partner: string;
  readonly service: string;
  readonly bouquetId: string;
  readonly topUps: number;
  readonly gross: string;
  readonly reversals: number;
  readonly reversed: string;
  readonly commission: string;
}

/** What the service settles for production is what its top-ups and reversals come to. */
async function auditSettlement(ground: Ground, address: string): Promise<string[]> {
  const sums = await withView(address, async (view) =>
    all<Line>(
      view,
      `SELECT day, p.name AS partner, service, bouquet_code AS "bouquetId", sum(sold) AS "topUps",
         CAST(sum(sold * amount) AS TEXT) AS gross, sum(back) AS reversals, CAST(sum(back * amount) AS TEXT) AS reversed,
         CAST(sum((sold - back) * sales.commission) AS TEXT) AS commission
       FROM (SELECT *, substr(txn_date, 1, 10) AS day, 1 AS sold, 0 AS back FROM top_up UNION ALL
         SELECT t.*, substr(r.wall, 1, 10), 0, 1 FROM reversal AS r JOIN top_up AS t ON t.txn_id = r.txn_id) AS sales
       JOIN partner AS p ON p.id = partner_id WHERE environment = 'production'
         AND day >= '${(await datesOf(view)).wholeFrom}'
       GROUP BY day, p.name, service, bouquet_code ORDER BY day`,
    ),
  );
  const [first, last] = [sums[0], sums.at(-1)];
  if (first === undefined || last === undefined) return [];
  const days = ["--from", first.day, "--to", last.day, "--environment", "production"];
  const { lines } = JSON.parse(await expectTopupd(["report", "settlement", ...days, "--json"], ground));
  const [ours, theirs] = [sums, lines as Line[]].map((some) => new Set(some.map(lineText)));
  return [
    ...[...(ours ?? [])].filter((line) => !theirs?.has(line)).map((line) => `a sum that is not settled: ${line}`),
    ...[...(theirs ?? [])].filter((line) => !ours?.has(line)).map((line) => `a settlement of other sums: ${line}`),
  ];
}

function lineText({ day, partner, service, bouquetId, topUps, gross, reversals, reversed, commission }: Line): string {
  const minor = [gross, reversed, commission].map((amount) => BigInt(amount.replace(".", "")));
  return [day, partner, service, bouquetId, topUps, reversals, ...minor].join(" ");
}

/**
 * Asks the book, the service's own check and its settlement, while nothing is written.
 * @throws Error that lists what is wrong.
 */
export async function expectBook(ground: Ground, told: Told): Promise<void> {
  const address = ground.database ?? join(ground.cwd, "topupd.db");
  const check = expectTopupd(["check"], ground).then(
    () => [],
    (error: Error) => [error.message],
  );
  const wrong = (await Promise.all([audit(address, told), auditSettlement(ground, address), check])).flat();
  if (wrong.length > 0) throw new Error(`the book finds ${wrong.length} faults:\n${wrong.join("\n")}`);
}

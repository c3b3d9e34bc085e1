import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "@photostructure/sqlite";
import { formatTransactionId, randomDigits } from "../src/domain/transaction.ts";
import { DAY_MS } from "../src/domain/wall-time.ts";
import { BOUQUETS, makeProvider } from "./partner.ts";
import { expectTopupd } from "./processes.ts";

export interface StatementOptions {
  /** Number of top-ups of the month, by both partners. */
  readonly events: number;
  readonly cwd: string;
}

/** Top-ups begin as many days before the month, and go on as long after it. */
const MARGIN_DAYS = 2;

/**
 * Fills a month with top-ups of many prices and commissions, by two partners, with reversals and entries by staff. The
 * statement must equal what the exported transactions add up to.
 * @throws Error that says what differs.
 */
export async function statement({ events, cwd }: StatementOptions): Promise<string> {
  const now = new Date();
  const [begin, end] = [-1, 0].map((months) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));
  const [month, until] = [begin, end].map((time = 0) => new Date(time).toISOString()) as [string, string];
  await makeProvider({ cwd }, 1);
  await expectTopupd(["partner", "add", "bank"], { cwd });
  fill(join(cwd, "topupd.db"), begin as number, end as number, events);

  const timed = async (...words: readonly string[]) => {
    const started = performance.now();
    const text = await expectTopupd(words, { cwd });
    return { text, seconds: ((performance.now() - started) / 1000).toFixed(1) };
  };
  const words = ["partner", "statement", "wallet", "--month", month.slice(0, 7), "--json"];
  const stated = await timed(...words);
  const said = JSON.parse(stated.text) as Statement;

  const exported = await timed("export", "transactions", "--partner", "wallet", "--output", "transactions.csv");
  const sums = { top_up: new Sum(), reversal: new Sum() };
  for await (const row of rowsOf(join(cwd, "transactions.csv"))) {
    const isIn = (time = "") => time >= month && time < until;
    if (isIn(row["at"])) sums.top_up.add(row);
    if (isIn(row["reversedAt"])) sums.reversal.add(row);
  }
  const { top_up: sold, reversal } = sums;
  const { count, gross, commission } = reversal;
  expectSame("top-ups", lineOf(said, "top_up"), [sold.count, -sold.gross]);
  expectSame("commission", lineOf(said, "commission"), [null, sold.commission - commission]);
  expectSame("reversals", lineOf(said, "reversal"), [count, gross]);

  const listing = await timed("export", "statement", "wallet", "--month", month.slice(0, 7), "--output", "entries.csv");
  let [balance, entries] = [said.opening, 0];
  for await (const row of rowsOf(join(cwd, "entries.csv"))) {
    expectSame(`the balance after entry ${entries}`, row["balance"], textOf(minorOf(balance) + minorOf(row["amount"])));
    balance = row["balance"] ?? "";
    entries += 1;
  }
  expectSame("the closing balance", balance, said.closing);
  const byStaff = said.lines.length - SALES.length;
  expectSame("entries", entries, sold.count + count + byStaff);
  const sum = said.lines.reduce((all, { amount }) => all + minorOf(amount), minorOf(said.opening));
  expectSame("the sum of the lines", minorOf(said.closing), sum);
  return (
    `${sold.count} top-ups and ${count} reversals of a month: the statement (${stated.seconds} s) ` +
    `agrees with exported transactions (${exported.seconds} s) and ${entries} entries (${listing.seconds} s)`
  );
}

interface Statement {
  readonly opening: string;
  readonly closing: string;
  readonly lines: readonly { readonly kind: string; readonly count: number | null; readonly amount: string }[];
}

const SALES = ["top_up", "commission", "reversal"] as const;

function lineOf({ lines }: Statement, name: (typeof SALES)[number]) {
  const { count = null, amount } = lines.find(({ kind }) => kind === name) ?? {};
  return [count, minorOf(amount)];
}

/** The sum of rows of the export. */
class Sum {
  count = 0;
  gross = 0n;
  commission = 0n;

  add({ amount, commission }: Row): void {
    this.count += 1;
    this.gross += minorOf(amount);
    this.commission += minorOf(commission);
  }
}

type Row = Readonly<Record<string, string>>;

/** Reads a file of which no cell has quotes. */
async function* rowsOf(path: string): AsyncGenerator<Row> {
  let names: readonly string[] | undefined;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const cells = line.split(",");
    if (names !== undefined) yield Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
    names ??= cells;
  }
}

function minorOf(amount = ""): bigint {
  if (!/^-?\d+\.\d\d$/.test(amount)) throw new Error(`${amount} is no amount`);
  return BigInt(amount.replace(".", ""));
}

function textOf(minor: bigint): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, "0");
  return `${minor < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function expectSame(what: string, ours: unknown, theirs: unknown): void {
  const [said, summed] = [String(ours), String(theirs)];
  if (said !== summed) throw new Error(`${what}: the statement says ${said}, not ${summed}`);
}

function fill(path: string, begin: number, end: number, events: number): void {
  const first = begin - MARGIN_DAYS * DAY_MS;
  const step = (end - begin) / events;
  const count = Math.ceil(events + (2 * MARGIN_DAYS * DAY_MS) / step);
  const timeOf = (index: unknown) => Math.floor(first + Number(index) * step);
  const database = new DatabaseSync(path);
  database.function("time_of", { deterministic: true }, timeOf);
  database.function("txn_id", { deterministic: true }, (index: unknown) => {
    const random = Buffer.alloc(10);
    random.writeUInt32BE(Number(index));
    return formatTransactionId(timeOf(index), randomDigits(random));
  });
  const wall = (at: string) => `strftime('%Y-%m-%d %H:%M:%S', ${at} / 1000, 'unixepoch')`;
  database.exec(`PRAGMA synchronous = OFF; BEGIN;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}),
      sold AS (SELECT i, txn_id(i) AS id, time_of(i) AS at, 1 + i % 50 * 7919 AS amount FROM n)
    INSERT INTO top_up SELECT 'past-' || i, id, 1 + (i % 10 = 0), 'production', 'c0', 'internet', 'u0',
      '${BOUQUETS[0].code}', amount, (amount * (i % 400) + 5000) / 10000, at, ${wall("at")},
      CASE WHEN i % 97 = 0 THEN 'reversed' ELSE 'success' END, NULL, NULL FROM sold;
    INSERT INTO reversal SELECT txn_id, partner_id, environment, at + ${DAY_MS}, ${wall(`(at + ${DAY_MS})`)}, 'maya',
      'paid twice' FROM top_up WHERE status = 'reversed';
    INSERT INTO sales_day SELECT partner_id, environment, substr(txn_date, 1, 10), service, bouquet_code, amount,
      substr(txn_date, 1, 10), 0, count(*), sum(commission), 0, 0 FROM top_up GROUP BY 1, 2, 3, 4, 5, 6;
    INSERT INTO sales_day SELECT t.partner_id, t.environment, substr(r.wall, 1, 10), service, bouquet_code, amount,
      substr(txn_date, 1, 10), 1, 0, 0, count(*), sum(commission) FROM reversal AS r JOIN top_up AS t USING (txn_id)
      GROUP BY 1, 2, 3, 4, 5, 6, 7;
    INSERT INTO account_entry SELECT 1, 'production', 'R' || i, CASE i % 3 WHEN 0 THEN 'deposit' WHEN 1 THEN 'withdrawal'
      ELSE 'adjustment' END, CASE i % 3 WHEN 0 THEN 100000007 ELSE -i END, 'agreed', 'maya', time_of(i), ${wall("time_of(i)")}
      FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + ${Math.ceil(count / 100)} FROM n WHERE i < ${count}) SELECT i FROM n);
    COMMIT`);
  database.close();
}

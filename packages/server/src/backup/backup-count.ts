import { ARCHIVE_COLUMNS, ARCHIVE_TABLES } from "../store/archive.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue } from "../store/store.ts";
import { BackupRefused } from "./errors.ts";

type Row = readonly ArchiveValue[];

/** What top-ups come to that have the same partner, environment, service and status. */
interface Sum {
  topUps: number;
  amount: bigint;
}

/** Counts what a backup holds, without any database, and holds it against what the backup says of itself. */
export class BackupCount {
  readonly #partners = new Map<number, string>();
  readonly #rows = new Map<string, number>(ARCHIVE_TABLES.map((table) => [table, 0]));
  readonly #money = new Map<string, Sum>();
  #announced: ArchiveTotals | undefined;

  /** The names of the partners, by their numbers. */
  get partners(): ReadonlyMap<number, string> {
    return this.#partners;
  }

  /** @throws BackupRefused where the chunk holds a top-up without an amount. */
  add(chunk: ArchiveChunk): void {
    if (chunk.kind === "totals") {
      this.#announced = chunk.totals;
      return;
    }
    const { table, rows } = chunk;
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows.length);
    if (table === "top_up") for (const row of rows) this.#addTopUp(row);
    if (table === "partner")
      for (const row of rows) this.#partners.set(Number(PARTNER.id(row)), String(PARTNER.name(row)));
  }

  /** @throws BackupRefused where the rows, or the money, do not come to what was announced. */
  conclude(): ArchiveTotals {
    if (this.#announced === undefined) throw new BackupRefused("does not say how much it holds");
    const { rows, money } = this.#announced;
    for (const [table, count] of this.#rows) {
      if (rows[table] !== count)
        throw new BackupRefused(`is altered: ${table} should have ${rows[table]} rows, and has ${count}`);
    }
    const agrees = money.every(({ partnerId, environment, service, status, topUps, amount }) => {
      const sum = this.#money.get(keyOf([partnerId, environment, service, status]));
      return sum?.topUps === topUps && sum.amount === amount;
    });
    if (!agrees || money.length !== this.#money.size)
      throw new BackupRefused("is altered: its top-ups do not come to the money that it says they do");
    return this.#announced;
  }

  #addTopUp(row: Row): void {
    const { partner, environment, service, status, amount } = TOP_UP;
    const paid = amount(row);
    if (typeof paid !== "number") throw new BackupRefused("is altered: one of its top-ups has no amount");
    const key = keyOf([partner, environment, service, status].map((read) => read(row)));
    const sum = this.#money.get(key) ?? { topUps: 0, amount: 0n };
    sum.topUps += 1;
    sum.amount += BigInt(paid);
    this.#money.set(key, sum);
  }
}

const PARTNER = { id: reader("partner", "id"), name: reader("partner", "name") };
const TOP_UP = {
  partner: reader("top_up", "partner_id"),
  environment: reader("top_up", "environment"),
  service: reader("top_up", "service"),
  status: reader("top_up", "status"),
  amount: reader("top_up", "amount"),
};

/** Reads a column out of the rows of a table. */
function reader(table: "partner" | "top_up", column: string): (row: Row) => ArchiveValue {
  const columns: readonly string[] = ARCHIVE_COLUMNS[table];
  const index = columns.indexOf(column);
  return (row) => row[index] ?? null;
}

function keyOf(values: readonly ArchiveValue[]): string {
  return JSON.stringify(values);
}

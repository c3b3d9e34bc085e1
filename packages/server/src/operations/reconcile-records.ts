import type { Answer, OurRow, TheirRow, UnreadableRow } from "../domain/reconciliation.ts";
import type { ScratchRecord } from "./partitions.ts";

/*
 * Rows as lists, which take less room on disk than objects do, and their amounts as texts, which JSON keeps exactly.
 */

type Theirs = TheirRow | UnreadableRow;

export function theirRecord(row: Theirs): ScratchRecord {
  if ("problem" in row) return [row.line, row.key ?? null, row.problem];
  return [row.line, row.key, String(row.amount), row.status, row.date ?? null];
}

export function readTheirs(record: ScratchRecord): Theirs {
  if (record.length === 3) {
    const [line, key, problem] = record as [number, string | null, string];
    return { line, key: key ?? undefined, problem };
  }
  const [line, key, amount, status, date] = record as [number, string, string, TheirRow["status"], string | null];
  return { line, key, amount: BigInt(amount), status, date: date ?? undefined };
}

export function ourRecord(row: OurRow): ScratchRecord {
  const { key, txnId, checkoutId, amount, status, at, isInPeriod, newer, isReversedLater } = row;
  return [key, txnId, checkoutId, String(amount), status, at, isInPeriod, newer, isReversedLater];
}

export function readOurs(record: ScratchRecord): OurRow {
  const [key, txnId, checkoutId, amount, ...others] = record as [string, string, string, string, ...unknown[]];
  const [status, at, isInPeriod, newer, isReversedLater] = others as [
    OurRow["status"],
    number,
    boolean,
    number,
    boolean,
  ];
  return { key, txnId, checkoutId, amount: BigInt(amount), status, at, isInPeriod, newer, isReversedLater };
}

export function answerRecord({ verdict, theirs, ours }: Answer): ScratchRecord {
  return [verdict, theirs === undefined ? null : theirRecord(theirs), ours === undefined ? null : ourRecord(ours)];
}

export function readAnswer(record: ScratchRecord): Answer {
  const [verdict, theirs, ours] = record as [Answer["verdict"], ScratchRecord | null, ScratchRecord | null];
  return {
    verdict,
    theirs: theirs === null ? undefined : readTheirs(theirs),
    ours: ours === null ? undefined : readOurs(ours),
  };
}

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { columnsOf } from "../../src/store/tables.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { moveHorizon } from "../support/history.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const FIXED_COLUMNS = columnsOf("top_up").filter((column) => column !== "status");

/** Statements that must always fail. */
const FORBIDDEN: readonly (readonly [sql: string, said: string])[] = [
  ["UPDATE ledger_entry SET months = 12 WHERE kind = 'top_up'", "a ledger entry is never changed"],
  ["UPDATE ledger_entry SET previous = NULL", "a ledger entry is never changed"],
  ["DELETE FROM ledger_entry WHERE kind = 'top_up'", "a ledger entry is never deleted"],
  ["DELETE FROM top_up", "a top-up is never deleted"],
  ["UPDATE top_up SET status = 'success' WHERE status = 'reversed'", "a reversal is permanent"],
  ["UPDATE audit_entry SET author = 'x'", "the audit trail is never changed"],
  ["DELETE FROM audit_entry", "the audit trail is never shortened"],
  ...FIXED_COLUMNS.map((column) => [`UPDATE top_up SET ${column} = ${column}`, "a top-up is never changed"] as const),
];

const CONTRADICTIONS: readonly (readonly [what: string, sql: string])[] = [
  ["an unknown status", "UPDATE top_up SET status = 'lost'"],
  [
    "an amount of nothing",
    "INSERT INTO top_up SELECT 'x', 'x', 1, 'trial', '1', 'tv', '1', 'A', 0, 0, 1, '', 'success', NULL, NULL",
  ],
  [
    "a second top-up of one checkout",
    "INSERT INTO top_up SELECT checkout_id, 'x', 1, 'trial', '1', 'tv', '1', 'A', 1, 0, 1, '', 'success', NULL, NULL FROM top_up",
  ],
  [
    "a second top-up of one txnId",
    "INSERT INTO top_up SELECT 'x', txn_id, 1, 'trial', '1', 'tv', '1', 'A', 1, 0, 1, '', 'success', NULL, NULL FROM top_up",
  ],
  [
    "a top-up's entry without its txnId",
    `INSERT INTO ledger_entry (cuid, environment, service, req_id, plan, seq, kind, at, wall)
       SELECT cuid, environment, service, req_id, plan, 99, 'top_up', at, wall FROM ledger_entry LIMIT 1`,
  ],
  ["a subscription twice", "INSERT INTO subscription SELECT * FROM subscription"],
  ["a bouquet of no revision", "INSERT INTO bouquet SELECT 99, 0, 'tv', 'X', 'X', 1, '[]', 'X', 0, 1, 0"],
  ["a token of no partner", "INSERT INTO access_token VALUES (x'00', 'tok', 99, 'trial', 1, NULL, NULL, NULL)"],
];

/** Two top-ups, one of them reversed, and a horizon before both. */
async function openWithPast() {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, topUp, reverse } = await openProvider(() => makeSqliteDatabase(path));
  const transaction = await topUp(SITA_NET, "NET-1M");
  const reversed = await topUp(SITA_NET, "NET-3M");
  await reverse(reversed.checkoutId);
  await moveHorizon({ store, now: 1 }, 1);
  return { raw: rawConnection(path), store, transaction };
}

describe("a record", () => {
  test("is touched by none of these", async () => {
    const { raw, store, transaction } = await openWithPast();
    for (const [sql, said] of FORBIDDEN) expect(() => raw.exec(sql), sql).toThrow(said);
    expect(await store.findTransaction(transaction.checkoutId)).toEqual(transaction);
  });

  test.each(["top_up", "ledger_entry"])("can be deleted from %s if it is from before the horizon", async (table) => {
    const { raw, transaction } = await openWithPast();
    raw.prepare("UPDATE retention SET pruned_before = ?").run(transaction.at + 1);
    raw.exec(`DELETE FROM ${table}`);
    expect(raw.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
  });

  test("can be marked as reversed", async () => {
    const { raw, store, transaction } = await openWithPast();
    raw.exec("UPDATE top_up SET status = 'reversed' WHERE status = 'success'");
    expect((await store.findTransaction(transaction.checkoutId))?.status).toBe("reversed");
  });

  test("holds no row that contradicts itself or another", async () => {
    const { raw } = await openWithPast();
    for (const [what, sql] of CONTRADICTIONS) expect(() => raw.exec(sql), what).toThrow(/constraint failed/);
  });
});

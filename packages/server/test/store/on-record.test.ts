import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

/** What must never succeed, whoever tries it. */
const FORBIDDEN: readonly (readonly [sql: string, said: string])[] = [
  ["UPDATE catalogue_revision SET created_at = 0", "a catalogue revision is never changed"],
  ["DELETE FROM catalogue_revision", "a catalogue revision is never deleted"],
  ["UPDATE bouquet SET price = 1", "a catalogue revision is never changed"],
  ["DELETE FROM bouquet WHERE code = 'NET-1M'", "a catalogue revision is never changed"],
  ["UPDATE grant_row SET months = 12 WHERE kind = 'top_up'", "a grant is never changed"],
  ...["id", "rowid", "oid", "_rowid_"].map(
    (name) => [`UPDATE grant_row SET ${name} = ${name} + 1000`, "a grant is never changed"] as const,
  ),
  ["UPDATE OR REPLACE grant_row SET oid = (SELECT max(id) FROM grant_row) WHERE id = 1", "a grant is never changed"],
  ["UPDATE grant_row SET before = NULL", "a grant is never changed"],
  ["UPDATE grant_row SET before = id - 1", "a grant is never changed"],
  ["DELETE FROM grant_row WHERE kind = 'top_up'", "a grant is never deleted"],
  ["UPDATE customer_row SET last_grant = NULL, last_seq = NULL WHERE level = 2", "a ledger is never shortened"],
  ["UPDATE customer_row SET last_seq = last_seq - 1 WHERE level = 2", "a ledger is never shortened"],
  ["UPDATE customer_row SET last_seq = last_seq + 5 WHERE level = 2", "a ledger is never shortened"],
  ["UPDATE customer_row SET last_grant = last_grant - 1 WHERE level = 2", "a ledger is never shortened"],
  ["UPDATE customer_row SET plan = 'x' WHERE level = 2", "a ledger is never shortened"],
  ["UPDATE customer_row SET cuid = 'x' WHERE level = 2", "a ledger is never shortened"],
  ["REPLACE INTO customer_row SELECT * FROM customer_row WHERE level = 2", "a ledger is never shortened"],
  [
    "REPLACE INTO customer_row (cuid, environment, level, service, req_id, plan, code, name, add_on, start_at, end_at, " +
      "months, days, seconds, topped_up_months, topped_up_days, goodwill_days) SELECT cuid, environment, 2, service, req_id, plan, code, " +
      "name, add_on, start_at, end_at, months, days, seconds, topped_up_months, topped_up_days, goodwill_days FROM subscription",
    "a ledger is never shortened",
  ],
  [
    "UPDATE OR REPLACE customer_row SET level = 2, plan = (SELECT plan FROM subscription WHERE service = 'internet' LIMIT 1), " +
      "status = NULL, position = NULL, topped_up = NULL, blocked = NULL WHERE level = 1 AND service = 'internet'",
    "a ledger is never shortened",
  ],
  ["DELETE FROM customer_row WHERE level = 2", "a ledger is never deleted"],
  ["REPLACE INTO catalogue_revision SELECT * FROM catalogue_revision", "a catalogue revision is never changed"],
  ["REPLACE INTO bouquet SELECT * FROM bouquet", "a catalogue revision is never changed"],
  [
    "REPLACE INTO bouquet SELECT revision, 99, service, code, name, 1, segments, plan, add_on, months, days FROM bouquet",
    "a catalogue revision is never changed",
  ],
  ["REPLACE INTO reversal SELECT * FROM reversal", "a reversal is never changed"],
  ["REPLACE INTO audit_entry SELECT * FROM audit_entry", "the audit trail is never changed"],
  ["REPLACE INTO grant_row SELECT * FROM grant_row", "a grant is never changed"],
  ["REPLACE INTO subscription_grant SELECT * FROM subscription_grant", "a grant is never changed"],
  ["UPDATE subscription_grant SET months = 12", "cannot modify subscription_grant"],
  ["DELETE FROM subscription_grant", "cannot modify subscription_grant"],
  ["DELETE FROM top_up", "a top-up is never deleted"],
  ["REPLACE INTO top_up SELECT * FROM top_up", "a top-up is never changed"],
  ["UPDATE retired_checkout SET at = 0", "a checkout is retired for good"],
  ["DELETE FROM retired_checkout", "a checkout is retired for good"],
  ["UPDATE reversal SET reason = 'x'", "a reversal is never changed"],
  ["DELETE FROM reversal", "a reversal is never deleted"],
  ["UPDATE top_up SET status = 'success' WHERE status = 'reversed'", "a reversal is never taken back"],
  ["UPDATE audit_entry SET author = 'x'", "the audit trail is never changed"],
  ["DELETE FROM audit_entry", "the audit trail is never shortened"],
  ["UPDATE retention SET pruned_before = pruned_before - 1", "what was let go does not come back"],
  ["DELETE FROM retention", "what was let go does not come back"],
  ["REPLACE INTO retention (only_row, pruned_before) VALUES (1, 0)", "what was let go does not come back"],
  ...[
    "checkout_id = 'x'",
    "txn_id = 'x'",
    "partner_id = 7",
    "environment = 'trial'",
    "cuid = 'x'",
    "service = 'tv'",
    "req_id = 'x'",
    "bouquet_code = 'x'",
    "amount = 1",
    "at = 0",
    "udf1 = 'x'",
    "udf2 = 'x'",
    "imported = 1",
  ].map((change) => [`UPDATE top_up SET ${change}`, "a top-up is never changed"] as const),
];

async function openAndTopUp() {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command, now } = await openProvider(() => makeSqliteDatabase(path));
  const transaction = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  await store.concludeCheckout("x".repeat(64));
  const reversed = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-3M")));
  await store.corrections.reverse(reversed.checkoutId, { author: "tester", at: now, reason: "paid twice" });
  await store.retention.moveHorizon(1, { author: "tester", at: 1 });
  return { raw: rawConnection(path), store, transaction };
}

describe("what is from before the horizon", () => {
  test.each(["top_up", "grant_row", "retired_checkout", "reversal"])(
    "can be deleted from %s, and not be changed",
    async (table) => {
      const { raw, transaction } = await openAndTopUp();
      const count = () =>
        raw.prepare(`SELECT count(*) AS count FROM ${table} WHERE at IS NOT NULL`).get()?.["count"] as number;
      expect(count()).toBeGreaterThan(0);
      raw.prepare("UPDATE retention SET pruned_before = ?").run(transaction.at + 1);
      expect(() => raw.exec(`UPDATE ${table} SET at = 0 WHERE at IS NOT NULL`)).toThrow(/never changed|for good/);
      if (table === "grant_row") {
        expect(() => raw.exec("DELETE FROM grant_row")).toThrow("a grant is never deleted");
        raw.exec("DELETE FROM grant_row WHERE id NOT IN (SELECT last_grant FROM customer_row WHERE level = 2)");
        expect(raw.prepare("SELECT count(*) AS count FROM grant_row WHERE kind = 'top_up'").get()?.["count"]).toBe(0);
        return;
      }
      raw.exec(`DELETE FROM ${table} WHERE at <= ${transaction.at}`);
      expect(count()).toBe(0);
    },
  );
});

describe("what is on record", () => {
  test.each(FORBIDDEN)("is not touched by: %s", async (sql, said) => {
    const { raw, store, transaction } = await openAndTopUp();
    expect(() => raw.exec(sql)).toThrow(said);
    expect(await store.findTransaction(transaction.checkoutId)).toEqual(transaction);
  });

  test("can be marked as reversed", async () => {
    const { raw, store, transaction } = await openAndTopUp();
    raw.exec("UPDATE top_up SET status = 'reversed' WHERE status = 'success'");
    expect((await store.findTransaction(transaction.checkoutId))?.status).toBe("reversed");
  });

  test.each([
    ["an unknown status", "UPDATE top_up SET status = 'lost'"],
    [
      "an amount of nothing",
      "INSERT INTO top_up SELECT 'x', 'x', 1, 'trial', '1', 'tv', '1', 'A', 0, 1, 'success', NULL, NULL, 0",
    ],
    [
      "a second top-up of one checkout",
      "INSERT INTO top_up SELECT checkout_id, 'x', 1, 'trial', '1', 'tv', '1', 'A', 1, 1, 'success', NULL, NULL, 0 FROM top_up",
    ],
    [
      "a top-up grant without a checkout",
      "INSERT INTO subscription_grant SELECT cuid, environment, service, req_id, plan, 99, kind, at, code, name, add_on, " +
        "start_at, months, days, seconds, on_top_months, on_top_days, NULL, NULL, NULL FROM subscription_grant WHERE kind = 'top_up'",
    ],
    ["a customer with a connection's segment", "UPDATE customer_row SET segment = 'x' WHERE level = 0"],
    ["a connection with a mobile number", "UPDATE customer_row SET mobile = '98' WHERE level = 1"],
    ["a subscription without an end", "UPDATE customer_row SET end_at = NULL WHERE level = 2"],
    ["half a subscription", "UPDATE customer_row SET code = NULL WHERE level = 2"],
    [
      "a grant of no number",
      "INSERT INTO grant_row SELECT -1, NULL, cuid, environment, service, req_id, plan, 99, kind, " +
        "at, code, name, add_on, start_at, months, days, seconds, on_top_months, on_top_days, checkout_id, granted_end_at, goodwill_days " +
        "FROM grant_row LIMIT 1",
    ],
    ["a connection with a ledger", "UPDATE customer_row SET last_grant = 1, last_seq = 1 WHERE level = 1"],
    ["a ledger that knows no number of its last grant", "UPDATE customer_row SET last_grant = NULL WHERE level = 2"],
    ["a grant twice", "INSERT INTO subscription_grant SELECT * FROM subscription_grant ORDER BY seq LIMIT 1"],
    ["a subscription twice", "INSERT INTO subscription SELECT * FROM subscription"],
    ["a bouquet of no revision", "INSERT INTO bouquet SELECT 99, 0, 'tv', 'X', 'X', 1, '[]', 'X', 0, 1, 0"],
    ["a token of no partner", "INSERT INTO access_token VALUES (x'00', 'tok', 99, 'trial', 1, NULL, NULL, NULL)"],
  ])("never holds %s", async (_, sql) => {
    const { raw } = await openAndTopUp();
    expect(() => raw.exec(sql)).toThrow(/constraint failed|is never (?:changed|shortened)/);
  });
});

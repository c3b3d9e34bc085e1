import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { verifyAuditTrail } from "../../src/operations/verify-audit-trail.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { BOUQUETS, expectRecorded, openProvider, restate, SITA, SITA_NET, statedCustomer } from "./provider.ts";

const DAY = 86_400_000;

async function entriesOf(store: Store) {
  return (await store.auditTrail.readOn(0, 1_000)).map(({ action, subject }) => `${action} ${subject}`);
}

export function testAuditTrail(makeDatabase: MakeDatabase): void {
  test("every change by staff or an import leaves an entry: who, when, what, before and after", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const bank = (await store.addPartner("bank", { author: "maya", at: now, reason: "contract 7" })) as Partner;
    await store.setPartnerStatus("bank", "suspended", by(now + 1));
    await store.setPartnerStatus("bank", "active", by(now + 2));
    const usual = { environment: "production", createdAt: now, expiresAt: undefined, revokedAt: undefined } as const;
    const token = { id: "tok_1", partner: bank, ...usual, replacedBy: undefined };
    await store.addAccessToken(token, new Uint8Array(32).fill(9), by(now + 3));
    await store.revokeAccessToken("tok_1", by(now + 4));
    await store.rotateCheckoutSecret(new Uint8Array(32).fill(7), by(now + DAY));
    await store.publishCatalogue("production", BOUQUETS.slice(1), by(now + 5));
    await store.importCustomers("trial", [], by(now + 6), "reset");
    expect(await entriesOf(store)).toEqual([
      "partner.add wallet",
      "catalogue.import production",
      "customers.import production",
      "partner.add bank",
      "partner.suspend bank",
      "partner.resume bank",
      "token.issue tok_1",
      "token.revoke tok_1",
      "secret.rotate 1",
      "catalogue.import production",
    ]);
    const [added, suspended] = await store.auditTrail.readOn(3, 2);
    expect(added).toMatchObject({ seq: 4, at: now, author: "maya", reason: "contract 7", before: undefined });
    expect(JSON.parse(added?.after ?? "")).toEqual({ id: bank.id, status: "active" });
    expect(suspended).toMatchObject({ before: '{"status":"active"}', after: '{"status":"suspended"}' });
    expect(await verifyAuditTrail({ store }, [])).toMatchObject({ kind: "whole", last: { seq: 10 } });
  });

  test("what changes nothing leaves no entry, and what a partner does leaves none either", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const before = await entriesOf(store);
    await store.addPartner("wallet", by(now));
    await store.setPartnerStatus("wallet", "active", by(now));
    await store.setPartnerStatus("nobody", "active", by(now));
    await store.revokeAccessToken("tok_unknown", by(now));
    await restate(store, now + DAY, SITA);
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    expect(await entriesOf(store)).toEqual(before);
  });

  test("an import says of each customer what has changed, and only that", async () => {
    const { store, now } = await openProvider(makeDatabase);
    await restate(store, now + DAY, { ...SITA, mobile: "9800000777" });
    const [entry] = await store.auditTrail.list({ cuid: SITA.cuid }, 1);
    const profile = { first_name: "Sita", last_name: "Rai", status: "active" };
    expect(JSON.parse(entry?.before ?? "")).toEqual({ [SITA.cuid]: { profile: { ...profile, mobile: SITA.mobile } } });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ [SITA.cuid]: { profile: { ...profile, mobile: "9800000777" } } });
  });

  test("of a customer who stands twice in an import, both changes are told", async () => {
    const { store, now } = await openProvider(makeDatabase);
    await restate(store, now + DAY, { ...SITA, mobile: "9800000777" }, { ...SITA, mobile: "9800000888" });
    const entries = await store.auditTrail.list({ cuid: SITA.cuid }, 2);
    const mobiles = entries.map(({ before, after }) =>
      [before, after].map((text) => JSON.parse(text ?? "")[SITA.cuid].profile.mobile),
    );
    expect(mobiles.reverse()).toEqual([
      [SITA.mobile, "9800000777"],
      ["9800000777", "9800000888"],
    ]);
  });

  test("a correction stands there with its reason, and is found by its customer", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    await store.corrections.setBlocked(SITA_NET, true, { ...by(now), reason: "stolen" });
    expect(await store.auditTrail.list({ cuid: SITA.cuid, action: "connection.block" }, 9)).toMatchObject([
      { subject: "production 2000001 internet sita", reason: "stolen", after: '{"blocked":true}' },
    ]);
    for (const filter of [{ cuid: "200000" }, { author: "nobody" }, { from: now + 1 }, { until: now }, { upTo: 0 }])
      expect(await store.auditTrail.list({ action: "connection.block", ...filter }, 9)).toEqual([]);
  });

  test("entries that several processes append at a time make one chain", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const names = Array.from({ length: 12 }, (_, index) => `partner ${index}`);
    await Promise.all(
      names.map((name, index) => (index % 2 === 0 ? opened.store : other).addPartner(name, by(opened.now))),
    );
    expect(await verifyAuditTrail({ store: other }, [])).toMatchObject({ kind: "whole", last: { seq: 15 } });
  });

  test.each([
    ["changed", "UPDATE audit_entry SET author = 'somebody else' WHERE seq = 2", /entry 2 is not as it was/],
    ["changed in what it was after", "UPDATE audit_entry SET after = '{}' WHERE seq = 3", /entry 3 is not as it was/],
    ["removed", "DELETE FROM audit_entry WHERE seq = 2", /entry 3 stands after entry 1/],
    ["moved", "UPDATE audit_entry SET seq = 9 WHERE seq = 3", /entry 9 stands after entry 2/],
  ])("an entry that was %s is found, also by check", async (_, damage, why) => {
    const { store, database } = await openProvider(makeDatabase);
    await database.tamper(damage);
    expect(await verifyAuditTrail({ store }, [])).toMatchObject({ kind: "broken", why: expect.stringMatching(why) });
    expect(await findWrong(store)).toEqual([expect.stringMatching(why)]);
  });

  test("a true checkpoint is heard, whatever else is said of the same entry", async () => {
    const { store } = await openProvider(makeDatabase);
    const [entry] = await store.auditTrail.readOn(1, 1);
    const [real, forged] = [
      { seq: 2, hash: entry?.hash ?? "" },
      { seq: 2, hash: "0".repeat(64) },
    ];
    for (const checkpoints of [[real, forged], [forged, real], [forged]])
      expect(await verifyAuditTrail({ store }, checkpoints)).toMatchObject({ kind: "another", checkpoint: forged });
    expect(await verifyAuditTrail({ store }, [real, real])).toMatchObject({ kind: "whole" });
  });

  test("a reversal is found by its customer, and an import says how it took the top-ups", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const transaction = expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    await store.corrections.reverse(transaction.checkoutId, { ...by(now), reason: "paid twice" });
    const [entry] = await store.auditTrail.list({ cuid: SITA.cuid }, 1);
    expect(entry).toMatchObject({
      action: "transaction.reverse",
      subject: `${transaction.txnId} production 2000001 internet sita`,
    });
    const stated = statedCustomer({ ...SITA, first_name: "Asha" });
    await store.importCustomers("production", [stated], by(now + DAY), "included");
    expect(await store.auditTrail.list({}, 1)).toMatchObject([{ subject: "production --top-ups included" }]);
  });

  test("an import of many, or of customers with much, makes entries that are short enough to be read", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const internet = Array.from({ length: 40 }, (_, index) => ({ username: `many-${index}`, status: "active" }));
    const many = Array.from({ length: 30 }, (_, index) =>
      statedCustomer({ ...SITA, cuid: `9${index}`, connections: { internet } }),
    );
    await store.importCustomers("trial", many, by(now), "unsaid");
    const entries = await store.auditTrail.list({ subject: "trial" }, 100);
    expect(entries.length).toBeGreaterThan(3);
    expect(Math.max(...entries.map(({ after }) => after?.length ?? 0))).toBeLessThan(20_000);
    expect(new Set(entries.flatMap(({ after }) => Object.keys(JSON.parse(after ?? "{}")))).size).toBe(30);
  });

  test("an end that was cut off is found by a checkpoint, and so is a trail written anew", async () => {
    const { store, database, now } = await openProvider(makeDatabase);
    const checkpoints = await store.auditTrail.readOn(0, 10);
    expect(await verifyAuditTrail({ store }, checkpoints)).toMatchObject({ kind: "whole", checkpoints: 3 });
    await database.tamper("DELETE FROM audit_entry WHERE seq = 3");
    expect(await verifyAuditTrail({ store }, [])).toMatchObject({ kind: "whole", last: { seq: 2 } });
    expect(await verifyAuditTrail({ store }, checkpoints)).toMatchObject({ kind: "another", checkpoint: { seq: 3 } });
    await store.addPartner("other", by(now));
    expect(await verifyAuditTrail({ store }, checkpoints)).toMatchObject({ kind: "another", checkpoint: { seq: 3 } });
  });
}

import { expect, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { RightsEnded, StoreUnavailable } from "../../src/store/errors.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { endOf, FAMILY, FIBER, GITA_NET, HARI_TV, openProvider, SITA, SITA_NET, SITA_TV } from "./provider.ts";

/** What is decided is the domain's: here is that all of it is written, in order with what else happens. */
export function testCorrections(makeDatabase: MakeDatabase): void {
  test("a reversed top-up says so, and its subscription is counted without it", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const transaction = await opened.topUp(SITA_NET, "NET-1M");
    opened.now += 60_000;
    const outcome = await store.corrections.reverse(transaction.checkoutId, opened.staff("paid twice"));
    expect(outcome).toMatchObject({ kind: "reversed", transaction: { ...transaction, status: "reversed" } });
    expect(await store.findTransaction(transaction.checkoutId)).toEqual({ ...transaction, status: "reversed" });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    const reversal = { at: opened.now, wall: "2026-11-20 09:01:00", author: "tester", reason: "paid twice" };
    expect(await store.search.findReversals([transaction.txnId])).toEqual(new Map([[transaction.txnId, reversal]]));
    const [entry] = await store.auditTrail.list({}, 1);
    const subject = `${transaction.txnId} production 2000001 internet sita`;
    expect(entry).toMatchObject({ action: "transaction.reverse", subject, author: "tester", reason: "paid twice" });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a top-up is reversed once, and one that is not there never", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    const outcomes = await Promise.all(
      [opened.store, other, opened.store].map((store) => store.corrections.reverse(checkoutId, opened.staff())),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["already_reversed", "already_reversed", "reversed"]);
    const { checkoutId: unused } = opened.command(SITA_NET, "NET-1M");
    expect(await other.corrections.reverse(unused, opened.staff())).toEqual({ kind: "not_found" });
    expect(await countRows(opened, "reversal")).toBe(1);
    expect(await findWrong(other)).toEqual([]);
  });

  test("goodwill lengthens a run, and its reversal takes it back", async () => {
    const opened = await openProvider(makeDatabase);
    const { corrections, auditTrail } = opened.store;
    const command = { ...SITA_NET, days: 10, plan: undefined };
    expect(await corrections.grantGoodwill(command, opened.staff("outage"))).toMatchObject({ kind: "granted" });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2026-12-20 09:00:00");
    expect(await auditTrail.list({}, 1)).toMatchObject([{ action: "subscription.grant", reason: "outage" }]);
    const back = await corrections.reverseGoodwill({ ...SITA_NET, plan: undefined }, opened.staff("3 were meant"));
    expect(back).toMatchObject({ kind: "reversed", days: 10 });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await corrections.reverseGoodwill({ ...SITA_NET, plan: undefined }, opened.staff())).toEqual({
      kind: "not_found",
    });
    expect(await auditTrail.list({}, 1)).toMatchObject([{ action: "subscription.reverse_grant" }]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("a block by staff refuses top-ups until staff lift it, whatever the records say", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const blockedAt = opened.now;
    const { wallTime } = store.provider.zone;
    expect(await store.corrections.setBlocked(SITA_TV, true, opened.staff("box stolen"))).toMatchObject({
      kind: "done",
    });
    await opened.restate(SITA);
    const refused = { kind: "refused", refusal: "connection_blocked" };
    expect(await store.settleTopUp(opened.command(SITA_TV, "TV-1M"))).toEqual(refused);
    const [entry] = await store.auditTrail.list({ action: "connection.block" }, 2);
    expect(entry).toMatchObject({ subject: "production 2000001 tv 007700000000001", reason: "box stolen" });
    const { service, reqId } = SITA_TV;
    const blocksOfSita = () => store.search.findBlocks("production", SITA.cuid);
    expect(await blocksOfSita()).toEqual([
      { service, reqId, at: blockedAt, wall: wallTime(blockedAt), author: "tester", reason: "box stolen" },
    ]);
    await store.corrections.setBlocked(SITA_TV, false, opened.staff("found"));
    expect(await blocksOfSita()).toEqual([]);
    await opened.topUp(SITA_TV, "TV-1M");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2027-01-10 09:00:00");
    expect(await store.corrections.setBlocked(SITA_TV, false, opened.staff())).toMatchObject({ audited: undefined });
    expect(await store.corrections.setBlocked(HARI_TV, false, opened.staff())).toEqual({ kind: "blocked_by_records" });
    expect(await store.corrections.setBlocked({ ...SITA_TV, reqId: "0" }, true, opened.staff())).toEqual({
      kind: "not_found",
    });
    expect(await store.auditTrail.list({ action: "connection.unblock" }, 5)).toHaveLength(1);
    await store.corrections.setBlocked(SITA_TV, true, opened.staff("stolen again"));
    expect(await blocksOfSita()).toMatchObject([{ reason: "stolen again" }]);
  });

  test("a correction that took longer than the deadline is not made", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    const staff = opened.staff();
    opened.now += RECORDING_DEADLINE_MS + 1;
    await expect(store.corrections.reverse(checkoutId, staff)).rejects.toBeInstanceOf(StoreUnavailable);
    const goodwill = { ...SITA_NET, days: 1, plan: undefined };
    await expect(store.corrections.grantGoodwill(goodwill, staff)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.corrections.setBlocked(SITA_NET, true, staff)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect((await store.findTransaction(checkoutId))?.status).toBe("success");
    opened.now -= 1;
    expect(await store.corrections.reverse(checkoutId, staff)).toMatchObject({ kind: "reversed" });
  });

  test("corrections and top-ups of one subscription at once, through two stores, lose nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const first = await Promise.all(Array.from({ length: 5 }, () => opened.topUp(SITA_NET, "NET-1M")));
    await Promise.all([
      ...first.map(({ checkoutId }) => other.corrections.reverse(checkoutId, opened.staff())),
      ...first.map(() => opened.topUp(SITA_NET, "NET-1M")),
      ...first.map(() => other.corrections.grantGoodwill({ ...SITA_NET, days: 1, plan: FIBER }, opened.staff())),
    ]);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2027-05-15 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });

  test("a preview says what each correction would do, and writes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    await store.corrections.grantGoodwill({ ...SITA_NET, days: 2, plan: undefined }, opened.staff());
    const before = await opened.database.read("SELECT count(*) AS entries, max(seq) AS last FROM audit_entry");
    const { preview } = store.corrections;
    const asked = opened.staff("what if");
    expect(await preview.reverse(checkoutId, asked)).toMatchObject({
      kind: "reversed",
      correction: { before: { end: "2027-01-12 09:00:00" }, entry: { after: { end: "2026-12-12 09:00:00" } } },
    });
    expect(await preview.grantGoodwill({ ...SITA_NET, days: 5, plan: undefined }, asked)).toMatchObject({
      kind: "granted",
      correction: { entry: { after: { end: "2027-01-17 09:00:00" } } },
    });
    expect(await preview.reverseGoodwill({ ...SITA_NET, plan: undefined }, asked)).toMatchObject({ days: 2 });
    expect(await preview.setBlocked(SITA_TV, true, asked)).toMatchObject({ kind: "done", audited: {} });
    expect(await preview.setBlocked(HARI_TV, false, asked)).toEqual({ kind: "blocked_by_records" });
    const order = { action: "goodwill", days: 1, plan: undefined } as const;
    const [effect] = await store.corrections.bulk.preview(order, [SITA_NET], asked);
    expect(effect).toMatchObject({ connection: SITA_NET, outcome: { kind: "granted" }, repeated: true });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-12 09:00:00");
    expect((await store.findTransaction(checkoutId))?.status).toBe("success");
    expect((await store.findConnection(SITA_TV))?.connection?.blocked).toBe(false);
    expect(await opened.database.read("SELECT count(*) AS entries, max(seq) AS last FROM audit_entry")).toEqual(before);
  });

  test("a bulk correction does what each would do by itself, tells targets, and leaves one entry that names all", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await store.targets.add({ name: "billing", config: { kind: "feed" }, books: true, secrets: [] }, by(opened.now));
    const { bulk } = store.corrections;
    const goodwill = { action: "goodwill", days: 3, plan: undefined } as const;
    const keys = [SITA_NET, SITA_TV, GITA_NET, { ...SITA_TV, reqId: "0" }];
    await bulk.announce(goodwill, keys.slice(0, 2), opened.staff("outage"));
    const given = await bulk.apply(goodwill, keys, opened.staff("outage"));
    expect(given.map(({ outcome }) => outcome.kind)).toEqual(["granted", "granted", "no_subscription", "not_found"]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-13 09:00:00");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-13 09:00:00");
    const [entry, former] = await store.auditTrail.list({ cuid: SITA.cuid }, 2);
    expect(entry).toMatchObject({ action: "bulk.goodwill", subject: "production", reason: "outage", author: "tester" });
    expect(JSON.parse(entry?.after ?? "")[SITA.cuid]).toEqual({
      "internet sita": { days: 3 },
      "tv 007700000000001": { days: 3 },
    });
    expect(former?.action).not.toMatch(/bulk|grant/);
    const block = { action: "block" } as const;
    expect((await bulk.apply(block, [SITA_TV, HARI_TV], opened.staff())).map(({ outcome }) => outcome.kind)).toEqual([
      "done",
      "done",
    ]);
    expect((await store.findConnection(SITA_TV))?.connection?.blocked).toBe(true);
    expect(await store.search.findBlocks("production", SITA.cuid)).toMatchObject([{ author: "tester" }]);
    const events = await opened.database.read("SELECT kind, req_id FROM event ORDER BY seq");
    expect(events.map(({ kind, req_id }) => [kind, req_id])).toEqual([
      ["subscription.changed", "sita"],
      ["subscription.changed", SITA_TV.reqId],
      ["connection.blocked", SITA_TV.reqId],
    ]);
    const late = opened.staff();
    opened.now += RECORDING_DEADLINE_MS + 1;
    await expect(bulk.apply(goodwill, [SITA_NET], late)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-13 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a portion of a bulk correction changes nothing once its author's rights have ended", async () => {
    const opened = await openProvider(makeDatabase);
    const { bulk } = opened.store.corrections;
    const gone = { ...opened.staff(), authority: { staffId: 99, role: "admin", sessionId: undefined } as const };
    const goodwill = { action: "goodwill", days: 3, plan: undefined } as const;
    await expect(bulk.apply(goodwill, [SITA_NET], gone)).rejects.toThrow(RightsEnded);
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
  });
}

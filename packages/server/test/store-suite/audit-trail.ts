import { expect, test } from "vitest";
import { exportAudit, listAudit, verifyAudit } from "../../src/office/audit/operations.ts";
import { type AuditFilter, listEntries, readEntries } from "../../src/office/audit/sql.ts";
import { by } from "../support/by.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { type MakeDatabase, openStore } from "./database.ts";
import { fileRules, moment, openProvider, SITA, SITA_NET, statedCustomer } from "./provider.ts";

export function testAuditTrail(makeDatabase: MakeDatabase): void {
  test("entries are numbered without a gap, newest first in a list and oldest first when read on", async () => {
    const { store, now } = await openStore(makeDatabase);
    for (const name of ["wallet", "bank", "agent"]) await partnersOf(store).add(name, by(now));
    const listed = await listEntries(store.engine.db, {}, 10);
    expect(listed.map(({ seq, subject }) => [seq, subject])).toEqual([
      [3, "agent"],
      [2, "bank"],
      [1, "wallet"],
    ]);
    expect(listed).toMatchObject((await readEntries(store.engine.db, 0, 10)).toReversed());
    expect((await readEntries(store.engine.db, 1, 1)).map(({ seq }) => seq)).toEqual([2]);
    expect((await listEntries(store.engine.db, { upTo: 2 }, 1)).map(({ seq }) => seq)).toEqual([2]);
  });

  test("a change that changes nothing leaves no entry", async () => {
    const { store, now } = await openStore(makeDatabase);
    await partnersOf(store).add("wallet", by(now));
    await refusal(partnersOf(store).add("wallet", by(now)));
    await partnersOf(store).setStatus("wallet", "active", by(now));
    await refusal(partnersOf(store).setStatus("nobody", "suspended", by(now)));
    await partnersOf(store).setAllowedAddresses("wallet", undefined, by(now));
    expect((await listEntries(store.engine.db, {}, 10)).map(({ action }) => action)).toEqual(["partner.add"]);
  });

  test("filters find an entry, and all of them must match", async () => {
    const { store, now } = await openStore(makeDatabase);
    await partnersOf(store).add("wallet", { author: "anna", authority: undefined, at: now, reason: "contract 7" });
    await partnersOf(store).add("bank", { author: "bert", authority: undefined, at: now + 10 });
    await partnersOf(store).setStatus("bank", "suspended", { author: "anna", authority: undefined, at: now + 20 });
    const seqs = async (filter: object) => (await listEntries(store.engine.db, filter, 10)).map(({ seq }) => seq);
    expect(await seqs({ author: "anna" })).toEqual([3, 1]);
    expect(await seqs({ action: "partner.add" })).toEqual([2, 1]);
    expect(await seqs({ subject: "bank" })).toEqual([3, 2]);
    expect(await seqs({ subject: "bank", author: "bert" })).toEqual([2]);
    expect(await seqs({ from: now + 10, until: now + 20 })).toEqual([2]);
    expect(await seqs({ author: "Anna" })).toEqual([]);
    expect((await readEntries(store.engine.db, 0, 1))[0]).toMatchObject({
      reason: "contract 7",
      at: now,
      before: undefined,
    });
  });

  test("changes of a customer are found, in an import or by hand", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await opened.grant(SITA_NET, 1);
    await opened.restate({ ...SITA, last_name: "Tamang" });
    const actions = async (cuid: string) =>
      (await listEntries(store.engine.db, { cuid }, 10)).map(({ action }) => action);
    expect(await actions("2000001")).toEqual(["customers.import", "subscription.goodwill", "customers.import"]);
    expect(await actions("2000002")).toEqual(["customers.import"]);
    expect(await actions("200000")).toEqual([]);
    expect(await actions("SITA")).toEqual([]);
  });

  test("an import is listed once, by its last entry, and its reason lists all of its entries", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const rename = (last_name: string, reason?: string) => {
      const row = { stated: statedCustomer({ ...SITA, last_name }), asOf: moment(store, now) };
      return store.importCustomers("production", [row], { ...by(now), reason }, fileRules(store, now));
    };
    const night = "import 7: night.csv";
    const { seq: before = 0 } = (await listEntries(store.engine.db, {}, 1))[0] ?? {};
    await rename("Sherpa", night);
    await partnersOf(store).add("bank", by(now));
    for (const name of ["Lama", "Gurung"]) await rename(name, night);
    // Rows without a reason are not part of an import of a file.
    for (const name of ["Magar", "Thapa"]) await rename(name);
    const list = async (filter: AuditFilter) =>
      (await listEntries(store.engine.db, { ...filter, from: now }, 5)).map(({ seq, parts }) => [seq - before, parts]);
    expect(await list({})).toEqual([
      [6, 1],
      [5, 1],
      [4, 3],
      [2, 1],
      [0, 1],
    ]);
    expect(await list({ reason: night })).toEqual([
      [4, 1],
      [3, 1],
      [1, 1],
    ]);
    expect(await list({ cuid: SITA.cuid, upTo: before + 3 })).toEqual([
      [3, 1],
      [1, 1],
      [0, 1],
    ]);
  });

  test("a list continues from its cursor, and shows only this customer's part of an import", async () => {
    const opened = await openProvider(makeDatabase);
    const first = await run(opened.desk(), listAudit, { limit: 1 });
    const { seq = 0, at } = first.items[0] ?? {};
    expect([first.items.length, first.cursor, at]).toEqual([1, String(seq - 1), "2026-11-20T09:00:00.000Z"]);
    const second = await run(opened.desk(), listAudit, { limit: 1, cursor: first.cursor ?? "" });
    expect(second.items[0]?.seq).toBe(seq - 1);
    const { items, cursor } = await run(opened.desk(), listAudit, { cuid: "2000001", limit: 1 });
    expect(items).toMatchObject([
      { action: "customers.import", before: null, after: { first_name: "Sita", "internet sita": "active" } },
    ]);
    expect(cursor).toBeNull();
    expect(await refusal(run(opened.desk(), listAudit, { cursor: "x" }))).toMatchObject({
      problems: [{ field: "cursor", problem: "must be the cursor of a page" }],
    });
  });

  test("the trail is exported with its hashes, and verified with checkpoints that were kept elsewhere", async () => {
    const { store, now, database } = await openStore(makeDatabase);
    const desk = deskOf({ store, clock: () => now });
    expect(await run(desk, verifyAudit, {})).toEqual({ entries: 0, checkpoint: null, problem: null });
    for (const name of ["wallet", "bank"]) await partnersOf(store).add(name, by(now));
    const rows = await run(desk, exportAudit, {});
    const { value: page } = await rows.next();
    expect(page).toMatchObject([
      { seq: 1, before: null, after: '{"id":1,"status":"active"}' },
      { seq: 2 },
      { action: "data.export" },
    ]);
    const { value: trailer } = await rows.next();
    const checkpoint = `3:${(await readEntries(store.engine.db, 2, 1))[0]?.hash}`;
    expect(trailer).toEqual({ checkpoint });
    const problemOf = async (...given: string[]) => {
      const { entries, problem } = await run(desk, verifyAudit, { checkpoint: given });
      return [entries, problem];
    };
    expect(await run(desk, verifyAudit, { checkpoint: [checkpoint] })).toEqual({
      entries: 3,
      checkpoint,
      problem: null,
    });
    const another = "the audit trail is not the one of checkpoint";
    const zeros = "0".repeat(64);
    expect(await problemOf(checkpoint, `3:${zeros}`)).toEqual([3, `${another} 3: another entry stands there`]);
    await database.tamper("DELETE FROM audit_entry WHERE seq = 3");
    expect(await problemOf()).toEqual([2, null]);
    expect(await problemOf(checkpoint)).toEqual([2, `${another} 3: it ends with entry 2`]);
    await database.tamper("UPDATE audit_entry SET author = 'nobody' WHERE seq = 2");
    expect(await problemOf()).toEqual([1, "the audit trail is broken: entry 2 is not as it was written"]);
    for (const text of ["", "0:00", `1:${"g".repeat(64)}`, `1:${"0".repeat(63)}`])
      expect(await refusal(run(desk, verifyAudit, { checkpoint: [text] }))).toMatchObject({
        problems: [{ field: "checkpoint", problem: "must be a number, a colon and 64 hexadecimal digits" }],
      });
  });

  test.each([
    ["changed", "UPDATE audit_entry SET reason = 'other' WHERE seq = 2", "entry 2 is not as it was written"],
    ["removed", "DELETE FROM audit_entry WHERE seq = 2", "entry 3 stands after entry 1"],
  ])("an entry that was %s is found by a check", async (_, damage, problem) => {
    const { store, database, now } = await openStore(makeDatabase);
    for (const name of ["wallet", "bank", "agent"]) await partnersOf(store).add(name, by(now));
    await database.tamper(damage);
    const wrong: unknown[] = [];
    for await (const event of store.check()) if (event.kind === "wrong") wrong.push(event.what);
    expect(wrong).toEqual([`the audit trail is broken: ${problem}`]);
  });
}

/** What happens at once. */
export function testAuditTrailAtOnce(makeDatabase: MakeDatabase): void {
  test("entries of two stores at once form one chain", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const names = Array.from({ length: 20 }, (_, index) => `partner ${index}`);
    await Promise.all(names.map((name, index) => partnersOf(index % 2 === 0 ? store : other).add(name, by(now))));
    const entries = await readEntries(store.engine.db, 0, 100);
    expect(entries.map(({ seq }) => seq)).toEqual(names.map((_, index) => index + 1));
    const wrong: unknown[] = [];
    for await (const event of other.check()) if (event.kind === "wrong") wrong.push(event);
    expect(wrong).toEqual([]);
  });
}

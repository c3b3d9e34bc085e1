import { expect, test } from "vitest";
import type { AuditFilter } from "../../src/store/search.ts";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore } from "./database.ts";
import { fileRules, moment, openProvider, SITA, SITA_NET, statedCustomer } from "./provider.ts";

export function testAuditTrail(makeDatabase: MakeDatabase): void {
  test("entries are numbered without a gap, newest first in a list and oldest first when read on", async () => {
    const { store, now } = await openStore(makeDatabase);
    for (const name of ["wallet", "bank", "agent"]) await store.partners.add(name, by(now));
    const listed = await store.auditTrail.list({}, 10);
    expect(listed.map(({ seq, subject }) => [seq, subject])).toEqual([
      [3, "agent"],
      [2, "bank"],
      [1, "wallet"],
    ]);
    expect(listed).toMatchObject((await store.auditTrail.readOn(0, 10)).toReversed());
    expect((await store.auditTrail.readOn(1, 1)).map(({ seq }) => seq)).toEqual([2]);
    expect((await store.auditTrail.list({ upTo: 2 }, 1)).map(({ seq }) => seq)).toEqual([2]);
  });

  test("a change that changes nothing leaves no entry", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.partners.add("wallet", by(now));
    await store.partners.add("wallet", by(now));
    await store.partners.setStatus("wallet", "active", by(now));
    await store.partners.setStatus("nobody", "suspended", by(now));
    await store.partners.setAllowedAddresses("wallet", undefined, by(now));
    expect((await store.auditTrail.list({}, 10)).map(({ action }) => action)).toEqual(["partner.add"]);
  });

  test("what is said of an entry finds it, and all that is said must hold", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.partners.add("wallet", { author: "anna", authority: undefined, at: now, reason: "contract 7" });
    await store.partners.add("bank", { author: "bert", authority: undefined, at: now + 10 });
    await store.partners.setStatus("bank", "suspended", { author: "anna", authority: undefined, at: now + 20 });
    const seqs = async (filter: object) => (await store.auditTrail.list(filter, 10)).map(({ seq }) => seq);
    expect(await seqs({ author: "anna" })).toEqual([3, 1]);
    expect(await seqs({ action: "partner.add" })).toEqual([2, 1]);
    expect(await seqs({ subject: "bank" })).toEqual([3, 2]);
    expect(await seqs({ subject: "bank", author: "bert" })).toEqual([2]);
    expect(await seqs({ from: now + 10, until: now + 20 })).toEqual([2]);
    expect(await seqs({ author: "Anna" })).toEqual([]);
    expect((await store.auditTrail.readOn(0, 1))[0]).toMatchObject({
      reason: "contract 7",
      at: now,
      before: undefined,
    });
  });

  test("what happened to a customer is found, be it among others' or by hand", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await opened.grant(SITA_NET, 1);
    await opened.restate({ ...SITA, last_name: "Tamang" });
    const actions = async (cuid: string) => (await store.auditTrail.list({ cuid }, 10)).map(({ action }) => action);
    expect(await actions("2000001")).toEqual(["customers.import", "subscription.grant", "customers.import"]);
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
    const { seq: before = 0 } = (await store.auditTrail.list({}, 1))[0] ?? {};
    await rename("Sherpa", night);
    await store.partners.add("bank", by(now));
    for (const name of ["Lama", "Gurung"]) await rename(name, night);
    // Written one by one, they are no import of a file.
    for (const name of ["Magar", "Thapa"]) await rename(name);
    const list = async (filter: AuditFilter) =>
      (await store.auditTrail.list({ ...filter, from: now }, 5)).map(({ seq, parts }) => [seq - before, parts]);
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

  test("entries of two stores at once form one chain", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const names = Array.from({ length: 20 }, (_, index) => `partner ${index}`);
    await Promise.all(names.map((name, index) => (index % 2 === 0 ? store : other).partners.add(name, by(now))));
    const entries = await store.auditTrail.readOn(0, 100);
    expect(entries.map(({ seq }) => seq)).toEqual(names.map((_, index) => index + 1));
    const wrong: unknown[] = [];
    for await (const event of other.check()) if (event.kind === "wrong") wrong.push(event);
    expect(wrong).toEqual([]);
  });

  test.each([
    ["changed", "UPDATE audit_entry SET reason = 'other' WHERE seq = 2", "entry 2 is not as it was written"],
    ["removed", "DELETE FROM audit_entry WHERE seq = 2", "entry 3 stands after entry 1"],
  ])("an entry that was %s is found by a check", async (_, damage, problem) => {
    const { store, database, now } = await openStore(makeDatabase);
    for (const name of ["wallet", "bank", "agent"]) await store.partners.add(name, by(now));
    await database.tamper(damage);
    const wrong: unknown[] = [];
    for await (const event of store.check()) if (event.kind === "wrong") wrong.push(event.what);
    expect(wrong).toEqual([`the audit trail is broken: ${problem}`]);
  });
}

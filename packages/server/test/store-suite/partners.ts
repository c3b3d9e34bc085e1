import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore } from "./database.ts";

export function testPartners(makeDatabase: MakeDatabase): void {
  test("a partner that was added is active, and found by its name", async () => {
    const { store, now } = await openStore(makeDatabase);
    const added = await store.addPartner("wallet", by(now));
    expect(added).toEqual({
      id: expect.any(Number),
      name: "wallet",
      status: "active",
      createdAt: now,
      allowedAddresses: undefined,
    });
    expect(await store.findPartner("wallet")).toEqual(added);
  });

  test("a partner that was never added is not there", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.addPartner("wallet", by(now));
    expect(await store.findPartner("Wallet")).toBeUndefined();
    expect(await store.setPartnerStatus("nobody", "suspended", by(1))).toBeUndefined();
    expect((await store.listPartners()).map(({ name }) => name)).toEqual(["wallet"]);
  });

  test("partners are listed in the order in which they came", async () => {
    const opened = await openStore(makeDatabase);
    expect(await opened.store.listPartners()).toEqual([]);
    for (const name of ["wallet", "bank", "agent"]) {
      await opened.store.addPartner(name, by(opened.now));
      opened.now += 1;
    }
    expect((await opened.store.listPartners()).map(({ name }) => name)).toEqual(["wallet", "bank", "agent"]);
  });

  test("a name that is taken stays with the partner that has it", async () => {
    const { store, now } = await openStore(makeDatabase);
    const first = await store.addPartner("wallet", by(now));
    expect(await store.addPartner("wallet", by(now + 1))).toBe("name_taken");
    expect(await store.listPartners()).toEqual([first]);
  });

  test("of two stores that add the same name at once, one is told that it is taken", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const answers = await Promise.all([store, other, store, other].map((each) => each.addPartner("wallet", by(now))));
    expect(answers.filter((answer) => answer === "name_taken")).toHaveLength(3);
    expect(await other.listPartners()).toHaveLength(1);
  });

  test("a suspension and its end show at once in every open store", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const added = await store.addPartner("wallet", by(now));
    const suspended = await store.setPartnerStatus("wallet", "suspended", by(1));
    expect(suspended).toEqual({ ...(added as object), status: "suspended" });
    expect(await other.findPartner("wallet")).toEqual(suspended);
    await other.setPartnerStatus("wallet", "active", by(1));
    expect(await store.findPartner("wallet")).toEqual(added);
  });

  test("suspending one partner leaves the others as they are", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.addPartner("wallet", by(now));
    await store.addPartner("bank", by(now));
    await store.setPartnerStatus("wallet", "suspended", by(1));
    expect((await store.listPartners()).map(({ status }) => status)).toEqual(["suspended", "active"]);
  });

  test("a store that is open answers a ping", async () => {
    const { store } = await openStore(makeDatabase);
    await expect(store.ping()).resolves.toBeUndefined();
  });
}

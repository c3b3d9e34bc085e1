import { describe, expect, test } from "vitest";
import {
  type Authority,
  hashStaffSecret,
  type StaffKey,
  type StaffMember,
  type StaffSession,
} from "../../src/domain/staff.ts";
import { readEntries } from "../../src/office/audit/sql.ts";
import { RightsEnded } from "../../src/store/errors.ts";
import type { KeptAnswer } from "../../src/store/staff.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { plain } from "./customers.ts";
import { type MakeDatabase, type OpenedStore, openStore, START } from "./database.ts";
import { fileRules, moment, statedCustomer } from "./provider.ts";

const HASH = hashStaffSecret("a session");
const OTHER_HASH = hashStaffSecret("another");

function session(id: string, more: Partial<StaffSession> = {}): StaffSession {
  return { id, createdAt: START, lastUsedAt: START, address: undefined, userAgent: undefined, ...more };
}

const MAYAS = "hash of maya";
const KEY: StaffKey = { name: "billing", role: "admin", createdAt: START, lastUsedAt: undefined };

async function add(store: Store, name: string, role: "admin" | "viewer" = "admin"): Promise<StaffMember> {
  const added = await store.staff.add(name, role, `hash of ${name}`, by(START));
  if (added === "name_taken") throw new Error(`${name} is taken`);
  return added;
}

async function actionsOf(store: Store) {
  const entries = await readEntries(store.engine.db, 0, 100);
  return entries.map(({ action, subject, before, after }) => [action, subject, before, after]);
}

/** Accounts, sessions and keys of the provider's staff, and what they were answered. */
export function testStaff(makeDatabase: MakeDatabase): void {
  test("an account is found with its secrets, and each name is given once, whoever else adds it", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    const added = await Promise.all(
      [store, other, store].map((each) => each.staff.add("maya", "admin", "h", by(START))),
    );
    expect(added.filter((each) => each === "name_taken")).toHaveLength(2);
    const ravi = await add(store, "ravi", "viewer");
    expect(ravi).toMatchObject({ name: "ravi", role: "viewer", createdAt: START, hasTotp: false });
    expect((await store.staff.list()).map(({ name }) => name)).toEqual(["maya", "ravi"]);
    const secrets = {
      password: "hash of ravi",
      totpSecret: undefined,
      totpStep: undefined,
      recoveryCodes: [],
      networks: [],
    };
    expect(await other.staff.find("ravi")).toEqual({ ...ravi, secrets });
    expect(await store.staff.find("Ravi")).toBeUndefined();
  });

  test("a change ends the sessions but the one that is kept, and the audit trail tells it without a secret", async () => {
    const { store } = await openStore(makeDatabase);
    const maya = await add(store, "maya");
    await add(store, "ravi", "viewer");
    for (const [id, hash] of [["one", HASH] as const, ["two", OTHER_HASH] as const])
      await store.staff.openSession(hash, maya.id, MAYAS, session(id));
    const to = { totpSecret: "BASE32", totpStep: 7, recoveryCodes: ["a", "b"] };
    const changed = await store.staff.change("maya", "staff.totp_on", to, by(START), "two");
    expect(changed).toEqual({ ...maya, hasTotp: true });
    expect(await store.staff.findSession(HASH)).toBeUndefined();
    expect((await store.staff.findSession(OTHER_HASH))?.member).toEqual(changed);
    expect((await store.staff.find("maya"))?.secrets).toEqual({ password: "hash of maya", ...to, networks: [] });
    await store.staff.change("maya", "staff.password", { password: "new" }, by(START));
    expect(await store.staff.findSession(OTHER_HASH)).toBeUndefined();
    // A log-in that was checked against the former password.
    expect(await store.staff.openSession(HASH, maya.id, MAYAS, session("late"))).toBe(false);
    await store.staff.change("maya", "staff.totp_off", { totpSecret: undefined, recoveryCodes: [] }, by(START));
    expect(await store.staff.find("maya")).toMatchObject({ hasTotp: false, secrets: { password: "new" } });
    await store.staff.change("ravi", "staff.role", { role: "finance" }, by(START));
    expect(await store.staff.change("nobody", "staff.role", { role: "admin" }, by(START))).toBeUndefined();
    expect((await actionsOf(store)).slice(2)).toEqual([
      ["staff.totp_on", "maya", undefined, undefined],
      ["staff.password", "maya", undefined, undefined],
      ["staff.totp_off", "maya", undefined, undefined],
      ["staff.role", "ravi", '{"role":"viewer"}', '{"role":"finance"}'],
    ]);
  });

  test("of the admins, one always stays", async () => {
    const { store } = await openStore(makeDatabase);
    const maya = await add(store, "maya");
    await store.staff.openSession(HASH, maya.id, MAYAS, session("one"));
    expect(await store.staff.remove("maya", by(START))).toBe("last_admin");
    expect(await store.staff.change("maya", "staff.role", { role: "viewer" }, by(START))).toBe("last_admin");
    expect(await store.staff.change("maya", "staff.role", { role: "admin" }, by(START))).toEqual(maya);
    await add(store, "ravi");
    expect(await store.staff.remove("maya", by(START))).toEqual(maya);
    expect(await store.staff.findSession(HASH)).toBeUndefined();
    expect(await store.staff.openSession(HASH, maya.id, MAYAS, session("late"))).toBe(false);
    expect(await store.staff.remove("ravi", by(START))).toBe("last_admin");
    expect(await store.staff.list()).toHaveLength(1);
  });

  test("a one-time code is taken once, and none before it; a recovery code is taken once", async () => {
    const { store, another } = await openStore(makeDatabase);
    const [maya, other] = [await add(store, "maya"), await another()];
    const to = { totpSecret: "BASE32", recoveryCodes: ["a", "b"] };
    await store.staff.change("maya", "staff.totp_on", to, by(START));
    const all = [store, other, store, other];
    const steps = await Promise.all(all.map((each) => each.staff.useCode(maya.id, { totpStep: 7 })));
    expect(steps.filter(Boolean)).toHaveLength(1);
    expect(await store.staff.useCode(maya.id, { totpStep: 6 })).toBe(false);
    expect(await store.staff.useCode(maya.id, { totpStep: 8 })).toBe(true);
    const codes = await Promise.all(all.map((each) => each.staff.useCode(maya.id, { recoveryCode: "a" })));
    expect(codes.filter(Boolean)).toHaveLength(1);
    expect((await store.staff.find("maya"))?.secrets).toMatchObject({ totpStep: 8, recoveryCodes: ["b"] });
  });

  test("a session is found, noted as used, listed and ended by its owner, and goes when it is old", async () => {
    const { store } = await openStore(makeDatabase);
    const [maya, ravi] = [await add(store, "maya"), await add(store, "ravi")];
    const old = session("old", { createdAt: START - 100 });
    const used = session("used", { address: "203.0.113.7", userAgent: "Firefox" });
    await store.staff.openSession(HASH, maya.id, MAYAS, old);
    await store.staff.openSession(OTHER_HASH, maya.id, MAYAS, used);
    await store.staff.touchSession(OTHER_HASH, START + 60);
    const touched = { ...used, lastUsedAt: START + 60 };
    expect(await store.staff.findSession(OTHER_HASH)).toEqual({ member: maya, session: touched });
    expect(await store.staff.listSessions(maya.id)).toEqual([touched, old]);
    expect(await store.staff.endSession(ravi.id, "old")).toBe(false);
    await store.staff.pruneSessions(START - 100, START);
    expect(await store.staff.listSessions(maya.id)).toHaveLength(2);
    await store.staff.pruneSessions(START - 99, START);
    expect(await store.staff.listSessions(maya.id)).toEqual([touched]);
    await store.staff.pruneSessions(START - 99, START + 60);
    expect(await store.staff.endSession(maya.id, "used")).toBe(true);
    expect(await store.staff.listSessions(maya.id)).toEqual([]);
  });

  test("a person's networks are remembered, the newest first and at most 20", async () => {
    const { store } = await openStore(makeDatabase);
    const maya = await add(store, "maya");
    const addresses = [
      undefined,
      ...Array.from({ length: 21 }, (_, index) => `10.0.0.${index}`),
      "10.0.0.9",
      "2001:db8::1",
    ];
    for (const [index, address] of addresses.entries())
      await store.staff.openSession(hashStaffSecret(`${index}`), maya.id, MAYAS, session(`${index}`, { address }));
    const { networks = [] } = (await store.staff.find("maya"))?.secrets ?? {};
    expect(networks).toHaveLength(20);
    expect(networks.slice(0, 3)).toEqual(["2001:db8::/64", "10.0.0.9", "10.0.0.20"]);
  });

  test("log-ins that come at once are counted one after the other, by their source, until they are forgotten or old", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    const seen: number[] = [];
    const begin = (each: Store, id: string, { at = START, since = 0, source = "10.0.0.1", waitMs = 0 } = {}) =>
      each.staff.beginLogIn({ id, name: "maya", source, at }, since, (failures) => {
        seen.push(failures.length);
        return waitMs;
      });
    await Promise.all([store, other, store, other].map((each, index) => begin(each, `${index}`)));
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(await begin(other, "refused", { waitMs: 7 })).toBe(7);
    await begin(store, "elsewhere", { source: "10.0.0.2" });
    await other.staff.forgetLogIn("0");
    await begin(store, "later", { at: START + 1 });
    await begin(store, "last", { at: START + 2, since: START });
    expect(seen.slice(4)).toEqual([4, 0, 3, 1]);
  });

  test("a key is found by its hash until it is removed, and says when it was used", async () => {
    const { store } = await openStore(makeDatabase);
    const key = KEY;
    expect(await store.staff.addKey(HASH, key, by(START))).toBe("added");
    expect(await store.staff.addKey(OTHER_HASH, key, by(START))).toBe("name_taken");
    expect(await store.staff.findKey(OTHER_HASH)).toBeUndefined();
    await store.staff.touchKey(HASH, START + 60);
    const used = { ...key, lastUsedAt: START + 60 };
    expect(await store.staff.findKey(HASH)).toEqual(used);
    expect(await store.staff.listKeys()).toEqual([used]);
    expect(await store.staff.removeKey("billing", by(START))).toEqual(used);
    expect(await store.staff.removeKey("billing", by(START))).toBeUndefined();
    expect(await store.staff.findKey(HASH)).toBeUndefined();
    expect(await actionsOf(store)).toEqual([
      ["staff_key.add", "billing", undefined, '{"role":"admin"}'],
      ["staff_key.remove", "billing", '{"role":"admin"}', undefined],
    ]);
  });

  test("of requests with one key that come at once, one is done, and the others learn what is on record", async () => {
    const { store, another } = await openStore(makeDatabase);
    const request = hashStaffSecret("what is asked");
    const asked = { hash: HASH, owner: "person 1", request, at: START };
    const begin = async (each: Store) => (await each.staff.beginAnswer(asked, 9)) as KeptAnswer | undefined;
    const begun = await Promise.all([store, await another(), store].map(begin));
    expect(begun.filter((each) => each === undefined)).toHaveLength(1);
    const open = await begin(store);
    expect(open).toMatchObject({ status: undefined, body: undefined });
    expect(Buffer.from(open?.request ?? [])).toEqual(request);
    await store.staff.keepAnswer(HASH, 201, '{"a":1}');
    expect(await begin(store)).toMatchObject({ status: 201, body: '{"a":1}' });
    await store.staff.keepAnswer(HASH, 201, undefined);
    expect(await begin(store)).toMatchObject({ status: 201, body: undefined });
    await store.staff.pruneAnswers(START);
    expect(await begin(store)).toBeDefined();
    await store.staff.pruneAnswers(START + 1);
    expect(await begin(store)).toBeUndefined();
  });

  test("so many answers are kept for each who asks, and what is on record is answered all the same", async () => {
    const { store } = await openStore(makeDatabase);
    const beginOf = (most: number | undefined) => (key: string, owner: string) =>
      store.staff.beginAnswer({ hash: hashStaffSecret(key), owner, request: HASH, at: START }, most);
    const begin = beginOf(2);
    expect([await begin("a", "one"), await begin("b", "one")]).toEqual([undefined, undefined]);
    expect(await begin("c", "one")).toBe("too_many");
    expect(await begin("a", "one")).toMatchObject({ status: undefined });
    expect(await begin("d", "two")).toBeUndefined();
    expect(await beginOf(undefined)("e", "one")).toBeUndefined();
    await store.staff.pruneAnswers(START + 1);
    expect(await begin("c", "one")).toBeUndefined();
  });

  describe("a change is refused, and nothing of it is written,", () => {
    /** A change of each of three kinds of transaction. */
    async function expectRefused({ store }: OpenedStore, authority: Authority) {
      const [key, attribution] = [
        { ...KEY, name: "lasting" },
        { ...by(START), authority },
      ];
      const rows = [{ stated: statedCustomer(plain("3000001")), asOf: moment(store, START) }];
      const trail = await actionsOf(store);
      expect(await store.staff.hasRights(authority)).toBe(false);
      for (const change of [
        () => store.staff.addKey(OTHER_HASH, key, attribution),
        () => partnersOf(store).add("wallet", attribution),
        () => store.importCustomers("production", rows, attribution, fileRules(store, START)),
      ])
        await expect(change()).rejects.toThrow(RightsEnded);
      expect(await actionsOf(store)).toEqual(trail);
      expect(await store.staff.findKey(OTHER_HASH)).toBeUndefined();
      expect(await partnersOf(store).list()).toEqual([]);
      expect(await store.lookUpCustomers("production", "3000001")).toEqual([]);
    }

    async function withMaya() {
      const opened = await openStore(makeDatabase);
      const maya = await add(opened.store, "maya");
      await add(opened.store, "ravi");
      await opened.store.staff.openSession(HASH, maya.id, MAYAS, session("one"));
      const bySession = { staffId: maya.id, role: "admin", sessionId: "one" } as const;
      return { opened, staff: opened.store.staff, maya, bySession, beyond: { ...bySession, sessionId: undefined } };
    }

    test("once its session has ended, though work in the background goes on", async () => {
      const { opened, staff, maya, bySession, beyond } = await withMaya();
      expect(await staff.hasRights(bySession)).toBe(true);
      await staff.endSession(maya.id, "one");
      await expectRefused(opened, bySession);
      expect(await staff.addKey(OTHER_HASH, KEY, { ...by(START), authority: beyond })).toBe("added");
    });

    test("once its account has another role", async () => {
      const { opened, staff, bySession, beyond } = await withMaya();
      await staff.change("maya", "staff.role", { role: "viewer" }, by(START));
      for (const authority of [bySession, beyond]) await expectRefused(opened, authority);
    });

    test("once its account is removed, also in the background", async () => {
      const { opened, staff, bySession, beyond } = await withMaya();
      await staff.remove("maya", by(START));
      for (const authority of [bySession, beyond]) await expectRefused(opened, authority);
    });

    test("once its key is removed", async () => {
      const opened = await openStore(makeDatabase);
      const { staff } = opened.store;
      await staff.addKey(HASH, KEY, by(START));
      expect(await staff.hasRights({ keyHash: HASH })).toBe(true);
      await staff.removeKey(KEY.name, by(START));
      await expectRefused(opened, { keyHash: HASH });
    });
  });
}

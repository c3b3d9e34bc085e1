import { describe, expect, test } from "vitest";
import { hashSecret } from "../../src/domain/access-token.ts";
import type { Authority } from "../../src/domain/authority.ts";
import type { IssuerPerson } from "../../src/domain/issuer.ts";
import type { LogInWay, StaffKey, StaffSession } from "../../src/domain/staff.ts";
import { readEntries } from "../../src/office/audit/sql.ts";
import { logInFromIssuer } from "../../src/office/session/from-issuer.ts";
import {
  beginAnswer,
  beginLogIn,
  endSession,
  findKey,
  findKnownDevices,
  findSession,
  findStaff,
  forgetLogIn,
  type KeptAnswer,
  keepAnswer,
  listSessions,
  openSession,
  pruneAnswers,
  pruneSessions,
  touchKey,
  touchSession,
  useCode,
} from "../../src/office/session/sql.ts";
import { addStaffKey, listStaffKeys } from "../../src/office/staff/keys.ts";
import { addStaff, changeStaff, listStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { NO_TOTP } from "../../src/office/staff/sql.ts";
import { RightsEnded } from "../../src/store/errors.ts";
import { hasRights } from "../../src/store/rights.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { keyHashOf, STORED_PASSWORD, staffOf } from "../support/staff.ts";
import { plain } from "./customers.ts";
import { type MakeDatabase, type OpenedStore, openStore, START } from "./database.ts";
import { fileRules, moment, statedCustomer } from "./provider.ts";

const HASH = hashSecret("a session");
const OTHER_HASH = hashSecret("another");

function session(id: string, more: Partial<StaffSession> = {}): StaffSession {
  return {
    id,
    createdAt: START,
    lastUsedAt: START,
    address: undefined,
    userAgent: undefined,
    authenticatedAt: undefined,
    ...more,
  };
}

const KEY = {
  name: "billing",
  role: "admin",
  madeBy: undefined,
  createdAt: START,
  lastUsedAt: undefined,
} as const satisfies StaffKey;

const add = (store: Store, name: string, role: "admin" | "viewer" = "admin") =>
  staffOf(store).add(name, role, by(START));

async function actionsOf(store: Store) {
  const entries = await readEntries(store.engine.db, 0, 100);
  return entries.map(({ action, subject, before, after }) => [action, subject, before, after]);
}

/** Accounts, sessions and keys of the provider's staff, and what they were answered. */
export function testStaff(makeDatabase: MakeDatabase): void {
  test("a change ends the sessions but the one that is kept, and the audit trail tells it without a secret", async () => {
    const { store } = await openStore(makeDatabase);
    const maya = await add(store, "maya");
    await add(store, "ravi", "viewer");
    for (const [id, hash] of [["one", HASH] as const, ["two", OTHER_HASH] as const])
      await openSession(store.engine, hash, maya.id, STORED_PASSWORD, session(id));
    const to = { totpSecret: "BASE32", totpStep: 7, recoveryCodes: ["a", "b"] };
    const changed = await staffOf(store).change("maya", ["staff.totp_on", to], by(START), "two");
    expect(changed).toEqual({ ...maya, hasTotp: true, lastLogInAt: START });
    expect(await findSession(store.engine.db, HASH)).toBeUndefined();
    expect((await findSession(store.engine.db, OTHER_HASH))?.member).toEqual(changed);
    expect((await findStaff(store.engine.db, "maya"))?.secrets).toEqual({
      password: STORED_PASSWORD,
      ...to,
      places: [],
    });
    const own = { password: "new", mustChangePassword: false };
    expect(await staffOf(store).change("maya", ["staff.password", own], by(START))).toMatchObject({
      mustChangePassword: false,
    });
    expect(await findSession(store.engine.db, OTHER_HASH)).toBeUndefined();
    // This log-in was checked against the previous password.
    expect(await openSession(store.engine, HASH, maya.id, STORED_PASSWORD, session("late"))).toBe(false);
    await staffOf(store).change("maya", ["staff.totp_off", NO_TOTP], by(START));
    expect(await findStaff(store.engine.db, "maya")).toMatchObject({
      hasTotp: false,
      mustChangePassword: false,
      secrets: { password: "new" },
    });
    await staffOf(store).change("ravi", ["staff.role", { role: "finance" }], by(START));
    expect(await refusal(staffOf(store).change("nobody", ["staff.role", { role: "admin" }], by(START)))).toMatchObject({
      code: "not_found",
    });
    expect((await actionsOf(store)).slice(2)).toEqual([
      ["staff.totp_on", "maya", undefined, undefined],
      ["staff.password", "maya", undefined, undefined],
      ["staff.totp_off", "maya", undefined, undefined],
      ["staff.role", "ravi", '{"role":"viewer"}', '{"role":"finance"}'],
    ]);
  });

  test("the id of a removed person is not used again, so that nobody gets a log-in or the rights of another", async () => {
    const { store } = await openStore(makeDatabase);
    await add(store, "maya");
    const ravi = await add(store, "ravi");
    const authority = { staffId: ravi.id, role: "admin", sessionId: undefined } as const;
    await staffOf(store).remove("ravi", by(START));
    const dipa = await staffOf(store).add("dipa", "admin", by(START + 60_000));
    expect(dipa.id).not.toBe(ravi.id);
    // Ravi's password was right when this log-in was checked, and Dipa has the same.
    expect(await openSession(store.engine, HASH, ravi.id, STORED_PASSWORD, session("late"))).toBe(false);
    expect(await hasRights(store.engine.db, authority)).toBe(false);
  });

  test("of the admins, one always stays", async () => {
    const { store } = await openStore(makeDatabase);
    const [staff, maya] = [staffOf(store), await add(store, "maya")];
    const lastAdmin = { code: "conflict", words: "maya is the last admin: give another person the role admin first" };
    await openSession(store.engine, HASH, maya.id, STORED_PASSWORD, session("one"));
    expect(await refusal(staff.remove("maya", by(START)))).toMatchObject(lastAdmin);
    const setRole = (role: "admin" | "viewer") => staff.change("maya", ["staff.role", { role }], by(START));
    expect(await refusal(setRole("viewer"))).toMatchObject(lastAdmin);
    expect(await setRole("admin")).toEqual({ ...maya, lastLogInAt: START });
    await add(store, "ravi");
    await staff.remove("maya", by(START));
    expect(await findSession(store.engine.db, HASH)).toBeUndefined();
    expect(await openSession(store.engine, HASH, maya.id, STORED_PASSWORD, session("late"))).toBe(false);
    expect(await refusal(staff.remove("ravi", by(START)))).toMatchObject({ code: "conflict" });
    expect((await staff.list()).map(({ name }) => name)).toEqual(["ravi"]);
  });

  test("accounts and keys are listed, and one change may change all of an account but its owner's", async () => {
    const { store } = await openStore(makeDatabase);
    const accounts = { hashPassword: async (password: string) => `hash of ${password}` } as never;
    const desk = deskOf({ store, clock: () => START }, { name: "maya" }, { accounts });
    const times = { createdAt: new Date(START).toISOString() };
    const maya = await add(store, "maya");
    await add(store, "ravi");
    const changed = {
      name: "ravi",
      role: "finance",
      ...times,
      lastLogInAt: null,
      hasTotp: false,
      ...{ sellerOf: null, environment: null },
      logsInWith: "password",
    };
    const input = { name: "ravi", role: "finance", password: "tumbling otters sing", totp: false } as const;
    expect(await run(desk, changeStaff, input)).toEqual(changed);
    expect((await run(desk, listStaff, {})).items).toEqual([{ ...changed, name: "maya", role: "admin" }, changed]);
    expect((await actionsOf(store)).slice(2).map(([action]) => action)).toEqual([
      ...["staff.password", "staff.role", "staff.totp_off"],
    ]);
    const own = {
      ...desk,
      actor: { name: "maya", authority: { staffId: maya.id, role: "admin", sessionId: "one" } },
    } as const;
    expect(await refusal(run(own, changeStaff, { name: "maya", totp: false }))).toMatchObject({ code: "own_account" });
    expect(await refusal(run(own, removeStaff, { name: "maya" }))).toMatchObject({ code: "own_account" });
    expect(await refusal(run(desk, changeStaff, { name: "maya" }))).toMatchObject({ code: "invalid" });
    const bad = async (name: string, password: string) => {
      const { problems } = await refusal(run(desk, addStaff, { name, role: "viewer", password }));
      return problems.map(({ field, problem }) => `${field} ${problem}`).join();
    };
    expect(await bad("x", "x7#Kq2LmZ7w")).toBe("password must have 12 characters or more");
    expect(await bad("x", "vX9#kq2LmZ7w".repeat(22))).toBe("password must have at most 256 characters");
    expect(await bad("x", "Password2024!")).toContain("easy to guess");
    // Normalised, one has 4,608 characters; the other has 6 in place of 12.
    expect(await bad("x", "\ufdfa".repeat(256))).toContain("at most 256 characters");
    expect(await bad("x", "k\u0327z\u030cq\u0327".repeat(2))).toContain("12 characters or more");
    const key = { name: "crm", role: "viewer", madeBy: null, ...times, lastUsedAt: null } as const;
    expect(await run(desk, addStaffKey, { name: "crm", role: "viewer" })).toEqual({
      ...key,
      key: expect.stringMatching(/^topup_staff_[0-9A-Za-z]{49}$/),
    });
    expect((await run(desk, listStaffKeys, {})).items).toEqual([key]);
    const taken = "there is a key named crm already";
    expect(await refusal(run(desk, addStaffKey, key))).toMatchObject({ code: "conflict", words: taken });
  });

  test("a session is found, noted as used, listed and ended by its owner, and goes when it is old", async () => {
    const { store } = await openStore(makeDatabase);
    const [maya, ravi] = [await add(store, "maya"), await add(store, "ravi")];
    const old = session("old", { createdAt: START - 100 });
    const used = session("used", { createdAt: START - 50, address: "203.0.113.7", userAgent: "Firefox" });
    await openSession(store.engine, HASH, maya.id, STORED_PASSWORD, old);
    await openSession(store.engine, OTHER_HASH, maya.id, STORED_PASSWORD, used);
    await touchSession(store.engine, OTHER_HASH, START + 60);
    const touched = { ...used, lastUsedAt: START + 60 };
    const member = { ...maya, lastLogInAt: START - 50 };
    expect(await findSession(store.engine.db, OTHER_HASH)).toEqual({ member, session: touched });
    expect(await listSessions(store.engine.db, maya.id)).toEqual([touched, old]);
    expect(await endSession(store.engine, ravi.id, "old")).toBe(false);
    await pruneSessions(store.engine, START - 100, START);
    expect(await listSessions(store.engine.db, maya.id)).toHaveLength(2);
    await pruneSessions(store.engine, START - 99, START);
    expect(await listSessions(store.engine.db, maya.id)).toEqual([touched]);
    await pruneSessions(store.engine, START - 99, START + 60);
    expect(await endSession(store.engine, maya.id, "used")).toBe(true);
    expect(await listSessions(store.engine.db, maya.id)).toEqual([]);
  });

  test("a person's networks and devices are remembered, the newest first and at most 40", async () => {
    const { store } = await openStore(makeDatabase);
    const maya = await add(store, "maya");
    const addresses = [
      undefined,
      ...Array.from({ length: 41 }, (_, index) => `10.0.0.${index}`),
      "10.0.0.9",
      "2001:db8::1",
    ];
    for (const [index, address] of addresses.entries())
      await openSession(
        store.engine,
        hashSecret(`${index}`),
        maya.id,
        STORED_PASSWORD,
        session(`${index}`, { address }),
      );
    const places = async () => (await findStaff(store.engine.db, "maya"))?.secrets.places ?? [];
    expect(await places()).toHaveLength(40);
    expect((await places()).slice(0, 3)).toEqual(["2001:db8::/64", "10.0.0.9", "10.0.0.40"]);
    const at = (id: string, ...devices: string[]) =>
      openSession(store.engine, hashSecret(id), maya.id, STORED_PASSWORD, session(id), devices);
    await at("a", "device 1");
    await at("b", "device 2", "device 1");
    expect((await places()).slice(0, 2)).toEqual(["device 2", "2001:db8::/64"]);
    const asked = new Map([
      [maya.id, "device 2"],
      [maya.id + 1, "device 2"],
    ] as const);
    expect(await findKnownDevices(store.engine.db, asked)).toEqual(["device 2"]);
    expect(await findKnownDevices(store.engine.db, new Map([[maya.id, "device 1"]]))).toEqual([]);
  });

  test("a key is found by its hash until it is removed, and says when it was used", async () => {
    const { store } = await openStore(makeDatabase);
    const keys = staffOf(store);
    const authority = await keys.addKey(KEY.name, KEY.role, by(START));
    const hash = keyHashOf(authority);
    expect(await findKey(store.engine.db, OTHER_HASH)).toBeUndefined();
    await touchKey(store.engine, hash, START + 60);
    const used = { ...KEY, lastUsedAt: START + 60 };
    expect(await findKey(store.engine.db, hash)).toEqual(used);
    expect(await keys.listKeys()).toEqual([used]);
    await keys.removeKey("billing", by(START));
    expect(await refusal(keys.removeKey("billing", by(START)))).toMatchObject({
      ...{ code: "not_found", words: "there is no key named billing" },
    });
    expect(await findKey(store.engine.db, hash)).toBeUndefined();
    expect(await actionsOf(store)).toEqual([
      ["staff_key.add", "billing", undefined, '{"role":"admin"}'],
      ["staff_key.remove", "billing", '{"role":"admin"}', undefined],
    ]);
  });

  test("the number of kept answers for each owner is limited, and recorded ones are still answered", async () => {
    const { store } = await openStore(makeDatabase);
    const beginOf = (most: number | undefined) => (key: string, owner: string) =>
      beginAnswer(store.engine, { hash: hashSecret(key), owner, request: HASH, at: START }, most);
    const begin = beginOf(2);
    expect([await begin("a", "one"), await begin("b", "one")]).toEqual([undefined, undefined]);
    expect(await begin("c", "one")).toBe("too_many");
    expect(await begin("a", "one")).toMatchObject({ status: undefined });
    expect(await begin("d", "two")).toBeUndefined();
    expect(await beginOf(undefined)("e", "one")).toBeUndefined();
    await pruneAnswers(store.engine, START + 1);
    expect(await begin("c", "one")).toBeUndefined();
  });

  describe("a change is refused, and nothing of it is written,", () => {
    /** A change of each of three kinds of transaction. */
    async function expectRefused({ store }: OpenedStore, authority: Authority) {
      const attribution = { ...by(START), authority };
      const rows = [{ stated: statedCustomer(plain("3000001")), asOf: moment(store, START) }];
      const trail = await actionsOf(store);
      expect(await hasRights(store.engine.db, authority)).toBe(false);
      for (const change of [
        () => staffOf(store).addKey("lasting", "admin", attribution),
        () => partnersOf(store).add("wallet", attribution),
        () => store.importCustomers("production", rows, attribution, fileRules(store, START)),
      ])
        await expect(change()).rejects.toThrow(RightsEnded);
      expect(await actionsOf(store)).toEqual(trail);
      expect((await staffOf(store).listKeys()).map(({ name }) => name)).not.toContain("lasting");
      expect(await partnersOf(store).list()).toEqual([]);
      expect(await store.lookUpCustomers("production", "3000001")).toEqual([]);
    }

    async function withMaya() {
      const opened = await openStore(makeDatabase);
      const maya = await add(opened.store, "maya");
      await add(opened.store, "ravi");
      await openSession(opened.store.engine, HASH, maya.id, STORED_PASSWORD, session("one"));
      const bySession = { staffId: maya.id, role: "admin", sessionId: "one" } as const;
      return { opened, maya, bySession, beyond: { ...bySession, sessionId: undefined } };
    }

    test("once its session has ended, though work in the background goes on", async () => {
      const { opened, maya, bySession, beyond } = await withMaya();
      const { engine } = opened.store;
      expect(await hasRights(engine.db, bySession)).toBe(true);
      await endSession(engine, maya.id, "one");
      await expectRefused(opened, bySession);
      await staffOf(opened.store).addKey(KEY.name, KEY.role, { ...by(START), authority: beyond });
    });

    test("once its account has another role", async () => {
      const { opened, bySession, beyond } = await withMaya();
      await staffOf(opened.store).change("maya", ["staff.role", { role: "viewer" }], by(START));
      for (const authority of [bySession, beyond]) await expectRefused(opened, authority);
    });

    test("once its account is removed, also in the background", async () => {
      const { opened, bySession, beyond } = await withMaya();
      await staffOf(opened.store).remove("maya", by(START));
      for (const authority of [bySession, beyond]) await expectRefused(opened, authority);
    });

    test("once its key is removed", async () => {
      const opened = await openStore(makeDatabase);
      const staff = staffOf(opened.store);
      const authority = await staff.addKey(KEY.name, KEY.role, by(START));
      expect(await hasRights(opened.store.engine.db, authority)).toBe(true);
      await staff.removeKey(KEY.name, by(START));
      await expectRefused(opened, authority);
    });

    test("once the person who made its key has a role that allows less, or is removed", async () => {
      const { opened, beyond } = await withMaya();
      const staff = staffOf(opened.store);
      const authority = await staff.addKey(KEY.name, KEY.role, { ...by(START), authority: beyond });
      expect(await hasRights(opened.store.engine.db, authority)).toBe(true);
      await staff.change("maya", ["staff.role", { role: "finance" }], by(START));
      await expectRefused(opened, authority);
      await staff.remove("maya", by(START), true);
      await expectRefused(opened, authority);
    });
  });
}

/** What happens at once. */
export function testStaffAtOnce(makeDatabase: MakeDatabase): void {
  test("an account is found with its secrets, and each name is given once, also by two processes", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    const added = await Promise.allSettled([store, other, store].map((each) => add(each, "maya")));
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const ravi = await add(store, "ravi", "viewer");
    expect(ravi).toMatchObject({ name: "ravi", role: "viewer", createdAt: START, hasTotp: false });
    expect(ravi).toMatchObject({ lastLogInAt: undefined, mustChangePassword: true });
    expect((await staffOf(store).list()).map(({ name }) => name)).toEqual(["maya", "ravi"]);
    const secrets = {
      password: STORED_PASSWORD,
      totpSecret: undefined,
      totpStep: undefined,
      recoveryCodes: [],
      places: [],
    };
    expect(await findStaff(other.engine.db, "ravi")).toEqual({ ...ravi, secrets });
    expect(await findStaff(store.engine.db, "Ravi")).toBeUndefined();
  });

  test("a person of an issuer gets one account, also by two processes, whose role follows and whose name is its own", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    await add(store, "maya");
    const random = seededRandom(3);
    const logIn = (each: Store, person: Partial<IssuerPerson>) => {
      const ports = {
        store: each,
        clock: () => START,
        random,
        totpRoles: new Set(["admin"] as const),
        isCounter: false,
      };
      const described = { subject: "https://issuer ravi", name: "ravi", role: "viewer", ...person } as const;
      const device = { address: "203.0.113.7", userAgent: undefined, secrets: new Map<number, string>() };
      const logInWays = new Set<LogInWay>(["oidc"]);
      const by = { issuer: "issuer", asked: { at: START, maxAgeMs: 300_000 }, device };
      return logInFromIssuer({ ...ports, logInWays }, { authTime: START / 1000 + 1, ...described }, by);
    };
    const sessions = await Promise.all([store, other, store].map((each) => logIn(each, {})));
    const [first] = sessions.map((each) => (each.kind === "logged_in" ? each : undefined));
    expect(sessions.map(({ kind }) => kind)).toEqual(Array(3).fill("logged_in"));
    expect((await staffOf(store).list()).map(({ name, logsInWith }) => [name, logsInWith])).toEqual([
      ["maya", "password"],
      ["ravi", "oidc"],
    ]);
    const hash = hashSecret(first?.token ?? "");
    expect((await findSession(store.engine.db, hash))?.session).toMatchObject({ authenticatedAt: START });
    expect(await logIn(store, { role: "admin", name: "renamed" })).toMatchObject({
      identity: { name: "ravi", role: "admin", person: { mustSetUp: undefined } },
    });
    expect(await findSession(store.engine.db, hash)).toBeUndefined();
    for (const name of ["maya", "ravi"])
      expect(await logIn(store, { subject: "https://issuer other", name })).toEqual({ kind: "name_taken" });
    expect(await logIn(store, { subject: "https://issuer other", name: undefined })).toEqual({ kind: "no_name" });
    expect(await logIn(store, { role: undefined })).toEqual({ kind: "no_role" });
    const set = staffOf(store).change("ravi", ["staff.password", { password: "new" }], by(START));
    expect(await refusal(set)).toMatchObject({ code: "conflict" });
    await staffOf(store).remove("ravi", by(START));
    expect((await actionsOf(store)).slice(1)).toEqual([
      ["staff.add", "ravi", undefined, '{"role":"viewer"}'],
      ["staff.role", "ravi", '{"role":"viewer"}', '{"role":"admin"}'],
      ["staff.role", "ravi", '{"role":"admin"}', '{"role":null}'],
      ["staff.remove", "ravi", '{"role":null}', undefined],
    ]);
  });

  test("a one-time code is taken once, and none before it; a recovery code is taken once", async () => {
    const { store, another } = await openStore(makeDatabase);
    const [maya, other] = [await add(store, "maya"), await another()];
    const to = { totpSecret: "BASE32", recoveryCodes: ["a", "b"] };
    await staffOf(store).change("maya", ["staff.totp_on", to], by(START));
    const all = [store, other, store, other];
    const steps = await Promise.all(all.map((each) => useCode(each.engine, maya.id, { totpStep: 7 })));
    expect(steps.filter(Boolean)).toHaveLength(1);
    expect(await useCode(store.engine, maya.id, { totpStep: 6 })).toBe(false);
    expect(await useCode(store.engine, maya.id, { totpStep: 8 })).toBe(true);
    const codes = await Promise.all(all.map((each) => useCode(each.engine, maya.id, { recoveryCode: "a" })));
    expect(codes.filter(Boolean)).toHaveLength(1);
    expect((await findStaff(store.engine.db, "maya"))?.secrets).toMatchObject({ totpStep: 8, recoveryCodes: ["b"] });
  });

  test("log-ins that come at once are counted one after the other, by their source, until they are forgotten or old", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    const seen: number[] = [];
    const begin = (each: Store, id: string, { at = START, since = 0, source = "10.0.0.1", waitMs = 0 } = {}) =>
      beginLogIn(each.engine, { id, name: "maya", source, at }, since, (failures) => {
        seen.push(failures.length);
        return waitMs;
      });
    await Promise.all([store, other, store, other].map((each, index) => begin(each, `${index}`)));
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(await begin(other, "refused", { waitMs: 7 })).toBe(7);
    await begin(store, "elsewhere", { source: "10.0.0.2" });
    await forgetLogIn(other.engine, "0");
    await begin(store, "later", { at: START + 1 });
    await begin(store, "last", { at: START + 2, since: START });
    expect(seen.slice(4)).toEqual([4, 0, 3, 1]);
  });

  test("of simultaneous requests with one key, one is done, and the others get the recorded answer", async () => {
    const { store, another } = await openStore(makeDatabase);
    const request = hashSecret("what is asked");
    const asked = { hash: HASH, owner: "person 1", request, at: START };
    const begin = async (each: Store) => (await beginAnswer(each.engine, asked, 9)) as KeptAnswer | undefined;
    const begun = await Promise.all([store, await another(), store].map(begin));
    expect(begun.filter((each) => each === undefined)).toHaveLength(1);
    const open = await begin(store);
    expect(open).toMatchObject({ status: undefined, body: undefined });
    expect(Buffer.from(open?.request ?? [])).toEqual(request);
    await keepAnswer(store.engine, HASH, 201, '{"a":1}');
    expect(await begin(store)).toMatchObject({ status: 201, body: '{"a":1}' });
    await keepAnswer(store.engine, HASH, 201, undefined);
    expect(await begin(store)).toMatchObject({ status: 201, body: undefined });
    await pruneAnswers(store.engine, START);
    expect(await begin(store)).toBeDefined();
    await pruneAnswers(store.engine, START + 1);
    expect(await begin(store)).toBeUndefined();
  });
}

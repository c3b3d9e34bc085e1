import { generate } from "otplib";
import { describe, expect, test } from "vitest";
import type { StaffRole } from "../../src/domain/authority.ts";
import { PasswordsBusy } from "../../src/domain/passwords.ts";
import { Refused } from "../../src/domain/refused.ts";
import type { LogInWay } from "../../src/domain/staff.ts";
import { readEntries } from "../../src/office/audit/sql.ts";
import { readInput } from "../../src/office/input.ts";
import {
  type FailedLogIn,
  identifyPerson,
  identifySystem,
  type LoggedIn,
  type LogIn,
  logIn,
} from "../../src/office/session/log-in.ts";
import {
  changeOwnPassword,
  confirmOwnTotp,
  confirmPassword,
  endOwnSession,
  listOwnSessions,
  offerOwnTotp,
  type Person,
  switchOwnTotpOff,
  TotpOffers,
} from "../../src/office/session/own-account.ts";
import { findStaff } from "../../src/office/session/sql.ts";
import { addStaffKey, removeStaffKey } from "../../src/office/staff/keys.ts";
import { addStaff, changeStaff, removeStaff } from "../../src/office/staff/operations.ts";
import { readKeys } from "../../src/office/staff/sql.ts";
import { accountTools } from "../../src/system/account-tools.ts";
import { refusal, run } from "../support/desk.ts";
import { CHEAP } from "../support/office-line.ts";
import { keepPassword } from "../support/staff-api.ts";
import { MINUTE_MS, openWorld, type World } from "../support/world.ts";

const PASSWORD = "kettle orbit fjord";
const NEW_PASSWORD = "tumbling otters sing";

/** Maya, who is an admin, and Ravi. */
async function withStaff() {
  const world = await openWorld();
  const { clock } = world.ports;
  const accounts = accountTools(world.ports, CHEAP);
  const failed: FailedLogIn[] = [];
  const totpRoles = new Set<StaffRole>();
  const logInFailed = (each: FailedLogIn) => failed.push(each);
  const logInWays = new Set<LogInWay>(["password"]);
  const memory = { totpOffers: new TotpOffers(clock), logInFailed, totpRoles, logInWays, isCounter: false };
  const ports = { ...world.ports, accounts, ...memory };
  const desk = { ...world.desk, accounts };
  const add = (name: string, role: StaffRole, password = PASSWORD) => run(desk, addStaff, { name, role, password });
  for (const [name, role] of [["maya", "admin"] as const, ["ravi", "support"] as const]) await add(name, role);
  const tryLogIn = (name: string, more: Partial<LogIn> = {}) =>
    logIn(ports, {
      name,
      password: PASSWORD,
      address: "203.0.113.7",
      userAgent: "Firefox",
      secrets: new Map(),
      ...more,
    });
  const token = async (name: string, more: Partial<LogIn> = {}) => {
    const logged = await tryLogIn(name, more);
    if (logged.kind !== "logged_in") throw new Error(logged.kind);
    return logged.token;
  };
  const identify = async (of: string, isUse = true) => (await identifyPerson(ports, of, isUse)) as Person | undefined;
  const person = async (name: string) => (await identify(await token(name))) as Person;
  return { world, ports, desk, add, tryLogIn, token, identify, person, failed };
}

async function authorsOf({ store }: World) {
  return (await readEntries(store.engine.db, 0, 100)).map(({ author, action, subject }) => [author, action, subject]);
}

describe("an account", () => {
  test.each([
    "",
    " x",
    "x".repeat(65),
    "key billing",
    "Maya\u00a0Rai",
    "Maya\u3000Rai",
    "Maya\u3164",
    "\u2800",
    "Maya\ufe0f",
  ])("has no name such as %j", (name) => {
    const input = { name, role: "viewer", password: PASSWORD };
    expect(() => readInput(addStaff.input, input)).toThrow(Refused);
  });

  test("whose role, password or existence changes has no session any more", async () => {
    const { desk, add, token, identify } = await withStaff();
    for (const change of [{ role: "finance" }, { totp: false }, { password: NEW_PASSWORD }] as const) {
      const former = await token("ravi");
      expect(await identify(former)).toMatchObject({ name: "ravi" });
      await run(desk, changeStaff, { name: "ravi", ...change });
      expect(await identify(former)).toMatch(/^Your session has ended: /);
    }
    const former = await token("ravi", { password: NEW_PASSWORD });
    expect((await identify(former))?.role).toBe("finance");
    await run(desk, removeStaff, { name: "ravi" });
    await add("ravi", "viewer");
    expect(await identify(former)).toMatch(/^Your session has ended: /);
  });
});

describe("a log-in", () => {
  test("takes the name and the password, and gives a session that ends after 30 minutes without use", async () => {
    const { world, token, tryLogIn, identify } = await withStaff();
    expect(await tryLogIn("maya", { password: NEW_PASSWORD })).toEqual({ kind: "wrong_credentials" });
    expect(await tryLogIn("nobody")).toEqual({ kind: "wrong_credentials" });
    const mayas = await token("maya");
    expect(mayas).toMatch(/^[\w-]{43}$/);
    for (let used = 0; used < 3; used += 1) {
      world.now += 30 * MINUTE_MS - 1;
      expect(await identify(mayas)).toMatchObject({ name: "maya", role: "admin", person: { hasTotp: false } });
    }
    world.now += 29 * MINUTE_MS;
    expect(await identify(mayas, false)).toMatchObject({ name: "maya" });
    world.now += MINUTE_MS;
    expect(await identify(mayas)).toBe("Your session ended after 30 minutes without use.");
    expect(await identify("x".repeat(43))).toMatch(/^Your session has ended: /);
  });

  test("lasts 12 hours at most", async () => {
    const { world, token, identify } = await withStaff();
    const [mayas, begun] = [await token("maya"), world.now];
    for (; world.now < begun + 12 * 60 * MINUTE_MS; world.now += 20 * MINUTE_MS)
      expect(await identify(mayas)).toMatchObject({ name: "maya" });
    expect(await identify(mayas)).toBe("Your session ended 12 hours after you logged in.");
  });

  const WRONG = { kind: "wrong_credentials" };
  const REFUSED = { kind: "too_many_attempts", waitMs: 15 * MINUTE_MS };

  test("is refused for 15 minutes after ten failures of a name from an address, also of many at a time", async () => {
    const { world, tryLogIn, token } = await withStaff();
    for (let index = 0; index < 20; index += 1) await token("maya");
    const guess = () => tryLogIn("maya", { password: NEW_PASSWORD });
    expect(await Promise.all(Array.from({ length: 12 }, guess))).toEqual([...Array(10).fill(WRONG), REFUSED, REFUSED]);
    expect(await tryLogIn("maya")).toEqual(REFUSED);
    // Neither from elsewhere, nor for others at the same place.
    await token("maya", { address: "198.51.100.1" });
    await token("ravi");
    world.now += 15 * MINUTE_MS - 1;
    expect(await tryLogIn("maya")).toEqual({ ...REFUSED, waitMs: 1 });
    world.now += 1;
    await token("maya");
  });

  test("from a known device is not locked by guesses without it, and locks itself only", async () => {
    const { world, ports, tryLogIn } = await withStaff();
    const { id = 0 } = (await findStaff(ports.store.engine.db, "maya")) ?? {};
    const secretOf = (logged: LoggedIn) => (logged.kind === "logged_in" ? logged.deviceSecret : "");
    const first = secretOf(await tryLogIn("maya"));
    const guess = (secret: string) =>
      tryLogIn("maya", { password: NEW_PASSWORD, secrets: new Map([[id, secret]]) }).then(({ kind }) => kind);
    for (const secret of [...Array(9).fill("invented"), secretOf(await tryLogIn("ravi"))])
      expect(await guess(secret)).toBe("wrong_credentials");
    expect(await guess("invented")).toBe("too_many_attempts");
    const logged = await tryLogIn("maya", { secrets: new Map([[id, first]]) });
    expect(logged.kind).toBe("logged_in");
    // Each log-in renews the secret.
    expect(await guess(first)).toBe("too_many_attempts");
    for (let times = 0; times < 10; times += 1) expect(await guess(secretOf(logged))).toBe("wrong_credentials");
    expect(await guess(secretOf(logged))).toBe("too_many_attempts");
    await tryLogIn("maya", { address: "198.51.100.1" });
    world.now += 15 * MINUTE_MS;
    expect(await guess(secretOf(logged))).toBe("wrong_credentials");
  });

  test("with wrong codes locks the codes of its account, wherever they come from, for 15 minutes", async () => {
    const { world, ports, person, tryLogIn } = await withStaff();
    const maya = await person("maya");
    const { secret } = await offerOwnTotp(ports, maya);
    const code = () => generate({ secret, epoch: world.now / 1_000 });
    await confirmOwnTotp(ports, maya, { code: await code() });
    world.now += 30_000;
    const right = await code();
    const wrong = String((Number(right) + 7) % 1_000_000).padStart(6, "0");
    const from = (index: number) => ({ address: `198.51.100.${index}` });
    // Without the password, nobody comes to the code.
    for (let index = 0; index < 30; index += 1)
      expect(await tryLogIn("maya", { ...from(index), password: NEW_PASSWORD, code: wrong })).toEqual(WRONG);
    const known = await tryLogIn("maya", { code: right });
    world.now += 30_000;
    const guesses = Array.from({ length: 20 }, (_, index) => tryLogIn("maya", { ...from(100 + index), code: wrong }));
    const outcomes = (await Promise.all(guesses)).map(({ kind }) => kind);
    expect(outcomes.filter((kind) => kind === "wrong_credentials")).toHaveLength(10);
    expect(outcomes.filter((kind) => kind === "too_many_attempts")).toHaveLength(10);
    expect(await tryLogIn("maya", { code: await code() })).toEqual(REFUSED);
    expect(await tryLogIn("maya")).toEqual({ kind: "code_required" });
    const secrets = new Map([[maya.person.id, known.kind === "logged_in" ? known.deviceSecret : ""]]);
    expect(await tryLogIn("maya", { code: await code(), secrets })).toMatchObject({ kind: "logged_in" });
    world.now += 15 * MINUTE_MS;
    expect(await tryLogIn("maya", { code: await code() })).toMatchObject({ kind: "logged_in" });
  });

  test("is refused after a hundred failures from an address, except to who has logged in from there before", async () => {
    const { world, tryLogIn, token } = await withStaff();
    const address = "2001:db8::1";
    await token("maya", { address });
    for (let index = 0; index < 100; index += 1)
      expect(await tryLogIn(`name ${index}`, { address: `2001:db8::${index}` })).toEqual(WRONG);
    for (const name of ["ravi", "nobody"]) expect(await tryLogIn(name, { address })).toEqual(REFUSED);
    await token("maya", { address: "2001:db8::2" });
    await token("ravi", { address: "2001:db8:0:1::1" });
    world.now += 15 * MINUTE_MS;
    await token("ravi", { address });
  });

  test("that is refused since too many passwords are being checked does not count as failed", async () => {
    const { ports, person, tryLogIn } = await withStaff();
    const maya = await person("maya");
    const { accounts } = ports;
    ports.accounts = { ...accounts, checkPassword: () => Promise.reject(new PasswordsBusy()) };
    for (let times = 0; times < 10; times += 1) {
      await expect(tryLogIn("maya")).rejects.toThrow(PasswordsBusy);
      await expect(confirmPassword(ports, maya, { password: PASSWORD })).rejects.toThrow(PasswordsBusy);
    }
    ports.accounts = accounts;
    expect(await tryLogIn("maya")).toMatchObject({ kind: "logged_in" });
    expect(await confirmPassword(ports, maya, { password: PASSWORD })).toEqual({ kind: "confirmed" });
  });

  test("counts an address in each of its forms", async () => {
    const { tryLogIn } = await withStaff();
    for (let index = 0; index < 10; index += 1)
      await tryLogIn("maya", { password: NEW_PASSWORD, address: ["203.0.113.7", "::ffff:203.0.113.7"][index % 2] });
    expect(await tryLogIn("maya", { address: "::ffff:cb00:7107" })).toEqual(REFUSED);
  });

  test("that fails is reported with its address, and with its name if that is an account's", async () => {
    const { ports, person, tryLogIn, failed } = await withStaff();
    const maya = await person("maya");
    await tryLogIn("maya", { password: NEW_PASSWORD });
    await tryLogIn(PASSWORD);
    for (let index = 0; index < 9; index += 1) await tryLogIn("maya", { password: NEW_PASSWORD });
    await tryLogIn("maya");
    await confirmPassword(ports, maya, { password: NEW_PASSWORD });
    const address = "203.0.113.7";
    const [outcome, late] = ["wrong_credentials", "too_many_attempts"] as const;
    expect([failed[0], failed[1], failed.at(-2), failed.at(-1)]).toEqual([
      { outcome, staff: "maya", address },
      { outcome, staff: undefined, address },
      { outcome: late, staff: "maya", address },
      { outcome, staff: "maya", address: undefined },
    ]);
    expect(failed).toHaveLength(13);
  });

  test("takes a code where codes are switched on, each once, or a recovery code once", async () => {
    const { world, ports, person, tryLogIn } = await withStaff();
    const maya = await person("maya");
    const confirm = (code: string) => confirmOwnTotp(ports, maya, { code });
    expect(await confirm("123456")).toEqual({ kind: "no_offer" });
    const { secret } = await offerOwnTotp(ports, maya);
    const code = () => generate({ secret, epoch: world.now / 1_000 });
    const wrong = String((Number(await code()) + 1) % 1_000_000).padStart(6, "0");
    expect(await confirm(wrong)).toEqual({ kind: "wrong_code" });
    const confirmed = await confirm(await code());
    const [first = "", ...others] = confirmed.kind === "switched_on" ? confirmed.recoveryCodes : [];
    expect(new Set([first, ...others]).size).toBe(10);
    expect(await tryLogIn("maya")).toEqual({ kind: "code_required" });
    const withCode = async (given: string) => (await tryLogIn("maya", { code: given })).kind;
    expect(await withCode(await code())).toBe("wrong_credentials");
    world.now += 30_000;
    expect(await withCode(await code())).toBe("logged_in");
    expect(await withCode(await code())).toBe("wrong_credentials");
    expect(await withCode(first.toUpperCase().replaceAll("-", " "))).toBe("logged_in");
    expect(await withCode(first)).toBe("wrong_credentials");
    expect(await tryLogIn("maya", { code: others[0], password: NEW_PASSWORD })).toEqual({ kind: "wrong_credentials" });
    const stored = await findStaff(ports.store.engine.db, "maya");
    expect(stored?.secrets.recoveryCodes).toHaveLength(9);
    expect(JSON.stringify(stored)).not.toContain(others[0]);
    await switchOwnTotpOff(ports, maya);
    expect((await tryLogIn("maya")).kind).toBe("logged_in");
    expect((await authorsOf(world)).slice(-2)).toEqual([
      ["maya", "staff.totp_on", "maya"],
      ["maya", "staff.totp_off", "maya"],
    ]);
  });

  test("codes are switched on within ten minutes of the offer, or not at all", async () => {
    const { world, ports, person } = await withStaff();
    const maya = await person("maya");
    const { secret } = await offerOwnTotp(ports, maya);
    world.now += 10 * MINUTE_MS;
    const code = await generate({ secret, epoch: world.now / 1_000 });
    expect(await confirmOwnTotp(ports, maya, { code })).toEqual({ kind: "no_offer" });
  });
});

describe("an account that is not set up", () => {
  test("must change a password that another person set, each time, to one of its own", async () => {
    const { ports, desk, token, identify } = await withStaff();
    const mustSetUp = async (of: string) => (await identify(of))?.person.mustSetUp;
    const first = await token("ravi");
    expect(await mustSetUp(first)).toBe("password");
    const ravi = (await identify(first)) as Person;
    expect(await changeOwnPassword(ports, ravi, { password: PASSWORD })).toEqual({
      ...{ kind: "bad_password", problem: "is your present password: choose another" },
    });
    expect(await mustSetUp(first)).toBe("password");
    expect(await changeOwnPassword(ports, ravi, { password: NEW_PASSWORD })).toEqual({ kind: "changed" });
    expect(await mustSetUp(first)).toBeUndefined();
    await run(desk, changeStaff, { name: "ravi", role: "finance" });
    expect(await mustSetUp(await token("ravi", { password: NEW_PASSWORD }))).toBeUndefined();
    await run(desk, changeStaff, { name: "ravi", password: PASSWORD });
    expect(await mustSetUp(await token("ravi"))).toBe("password");
  });

  test("must switch one-time codes on if its role requires them, and cannot switch them off", async () => {
    const { world, ports, desk, token, identify, tryLogIn } = await withStaff();
    ports.totpRoles.add("admin");
    for (const name of ["maya", "ravi"]) await keepPassword(ports.store, name);
    const [maya, ravi] = [(await identify(await token("maya"))) as Person, await identify(await token("ravi"))];
    expect([maya.person.mustSetUp, ravi?.person.mustSetUp]).toEqual(["totp", undefined]);
    const required = { code: "conflict", words: "your role requires one-time codes" };
    expect(await refusal(switchOwnTotpOff(ports, maya))).toMatchObject(required);
    const { secret } = await offerOwnTotp(ports, maya);
    await confirmOwnTotp(ports, maya, { code: await generate({ secret, epoch: world.now / 1_000 }) });
    world.now += 30_000;
    const logged = await tryLogIn("maya", { code: await generate({ secret, epoch: world.now / 1_000 }) });
    const { identity } = logged as Extract<typeof logged, { kind: "logged_in" }>;
    expect(identity.person).toMatchObject({ hasTotp: true, requiresTotp: true, mustSetUp: undefined });
    expect(await refusal(switchOwnTotpOff(ports, identity as Person))).toMatchObject(required);
    // An admin who switches a lost telephone off leaves the person to switch the next one on.
    await run(desk, changeStaff, { name: "maya", totp: false });
    expect((await identify(await token("maya")))?.person.mustSetUp).toBe("totp");
  });
});

describe("one's own account", () => {
  test("shows its sessions, and ends one", async () => {
    const { world, ports, person, token, identify } = await withStaff();
    const [former, other] = [await token("maya"), await token("maya", { userAgent: "x".repeat(500) })];
    world.now += 29 * MINUTE_MS;
    const [maya, ravi] = [await person("maya"), await person("ravi")];
    await identify(other);
    world.now += MINUTE_MS;
    const sessions = await listOwnSessions(ports, maya);
    expect(sessions.map(({ id }) => id)).toEqual([maya.person.sessionId, (await identify(other))?.person.sessionId]);
    expect(sessions[0]).toMatchObject({ address: "203.0.113.7", userAgent: "Firefox" });
    expect(sessions[1]?.userAgent).toHaveLength(200);
    expect(await identify(former)).toMatch(/without use/);
    const id = sessions[1]?.id ?? "";
    expect(await endOwnSession(ports, ravi, { id })).toBe(false);
    expect(await endOwnSession(ports, maya, { id })).toBe(true);
    expect(await identify(other)).toMatch(/^Your session has ended: /);
  });

  test("gets a new password, after which the other sessions have ended", async () => {
    const { world, ports, token, identify, tryLogIn } = await withStaff();
    const other = await token("maya");
    const mine = await token("maya");
    const maya = (await identify(mine)) as Person;
    expect(await changeOwnPassword(ports, maya, { password: "password1234" })).toMatchObject({ kind: "bad_password" });
    expect(await changeOwnPassword(ports, maya, { password: NEW_PASSWORD })).toEqual({ kind: "changed" });
    expect(await identify(other)).toMatch(/^Your session has ended: /);
    expect(await identify(mine)).toMatchObject({ name: "maya" });
    expect(await tryLogIn("maya", { password: NEW_PASSWORD })).toMatchObject({ kind: "logged_in" });
    expect((await authorsOf(world)).at(-1)).toEqual(["maya", "staff.password", "maya"]);
  });

  test("of the issuer has logged in there within five minutes, to the millisecond, or does it again", async () => {
    const { world, ports, person } = await withStaff();
    const maya = await person("maya");
    const confirmedAfter = async (ms: number) => {
      const authenticatedAt = world.now - ms;
      const ofIssuer: Person = { ...maya, person: { ...maya.person, logsInWith: "oidc", authenticatedAt } };
      return (await confirmPassword(ports, ofIssuer, { password: "" })).kind;
    };
    expect(await confirmedAfter(5 * MINUTE_MS)).toBe("confirmed");
    expect(await confirmedAfter(5 * MINUTE_MS + 1)).toBe("log_in_again");
  });

  test("is asked for the password, and wrong ones lock the session's person out of nothing else", async () => {
    const { ports, person, tryLogIn } = await withStaff();
    const maya = await person("maya");
    const confirm = (password: string) => confirmPassword(ports, maya, { password });
    expect(await confirm(PASSWORD)).toEqual({ kind: "confirmed" });
    for (let index = 0; index < 10; index += 1) expect(await confirm("x")).toEqual({ kind: "wrong_password" });
    expect(await confirm(PASSWORD)).toEqual({ kind: "too_many_attempts", waitMs: 15 * MINUTE_MS });
    expect(await tryLogIn("maya")).toMatchObject({ kind: "logged_in" });
  });
});

describe("a key", () => {
  test("says which system asks until it is removed, and when it was used, a minute late", async () => {
    const { world, ports, desk } = await withStaff();
    const { key } = await run(desk, addStaffKey, { name: "billing", role: "admin" });
    expect(await identifySystem(ports, key)).toMatchObject({ name: "key billing", role: "admin", person: undefined });
    const used = world.now;
    world.now += MINUTE_MS - 1;
    await identifySystem(ports, key);
    expect((await readKeys(ports.store.engine.db))[0]?.lastUsedAt).toBe(used);
    world.now += 1;
    await identifySystem(ports, key);
    expect((await readKeys(ports.store.engine.db))[0]?.lastUsedAt).toBe(world.now);
    await run(desk, removeStaffKey, { name: "billing" });
    expect(await identifySystem(ports, key)).toBeUndefined();
  });
});

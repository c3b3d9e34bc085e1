import { expect, test } from "vitest";
import { type AccessToken, hashSecret } from "../../src/domain/access-token.ts";
import { DEFAULT_LIMITS } from "../../src/domain/partner-limits.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import {
  addPartner,
  changePartner,
  limitPartner,
  listPartners,
  showPartner,
} from "../../src/office/partners/operations.ts";
import { readLastUses } from "../../src/office/partners/sql.ts";
import { issueToken, listTokens, revokeToken, rotateToken } from "../../src/office/partners/tokens.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, type OpenedStore, openStore, START, withinASecond } from "./database.ts";

const HASH = hashSecret("the old one");
const OTHER_HASH = hashSecret("another new one");
const DAY_MS = 86_400_000;
const OFFICE = ["203.0.113.0/24", "2001:db8::/32"];
const iso = (at: number) => new Date(at).toISOString();

export function testAccess(makeDatabase: MakeDatabase): void {
  test("a partner that was added is active, and found by its name alone", async () => {
    const { desk, actions } = await openAccess(makeDatabase);
    const wallet = {
      id: 1,
      name: "wallet",
      status: "active",
      createdAt: iso(START),
      allowedAddresses: null,
      certifiedAt: null,
      ...{ rate: 50, burst: 500, newLookUps: 600 },
      ...{ topUpAmount: null, dayAmount: null, dayTopUps: null },
      ...{ legalName: null, address: null, taxNumber: null, contact: null },
    };
    expect(await run(desk, addPartner, { name: "wallet" })).toEqual(wallet);
    expect(await run(desk, showPartner, { name: "wallet" })).toEqual({ ...wallet, refusedToday: [] });
    expect(await refusal(run(desk, addPartner, { name: "wallet" }))).toMatchObject({
      code: "conflict",
      words: "there is a partner named wallet already",
    });
    const none = { code: "not_found", words: "there is no partner named Wallet" };
    expect(await refusal(run(desk, showPartner, { name: "Wallet" }))).toMatchObject(none);
    expect(await refusal(run(desk, changePartner, { name: "Wallet", status: "suspended" }))).toMatchObject(none);
    expect(await refusal(run(desk, issueToken, { partner: "Wallet" }))).toMatchObject(none);
    expect(await refusal(run(desk, listTokens, { partner: "Wallet" }))).toMatchObject(none);
    const { items } = await run(desk, listPartners, {});
    const unused = { state: "active", available: null, balanceState: "good", refusedToday: [] };
    expect(items).toEqual([{ ...wallet, ...unused, validTokens: 0, lastUsedAt: null }]);
    expect(await actions()).toEqual(["partner.add"]);
  });

  test("a partner's lines on papers are set, kept and removed one by one, each change with its audit entry", async () => {
    const { desk, actions } = await openAccess(makeDatabase);
    await run(desk, addPartner, { name: "wallet" });
    const name = "wallet";
    const lines = { legalName: "Blue Wallet Pvt. Ltd.", address: "New Road 7, Kathmandu", taxNumber: "PAN 601234567" };
    expect(await run(desk, changePartner, { name, ...lines })).toMatchObject({ name, ...lines, contact: null });
    const after = { name, ...lines, address: null, contact: "Rita, 9800000001" };
    await run(desk, changePartner, { name, address: " ", contact: after.contact });
    await run(desk, changePartner, { name, legalName: lines.legalName });
    expect(await run(desk, showPartner, { name })).toMatchObject(after);
    expect(await actions()).toEqual(["partner.details", "partner.details", "partner.add"]);
  });

  test("if two stores add the same name at once, one is refused", async () => {
    const { store, another } = await openStore(makeDatabase);
    const desks = [store, await another(), store].map((each) => deskOf({ store: each, clock: () => START }));
    const outcomes = await Promise.allSettled(desks.map((desk) => run(desk, addPartner, { name: "wallet" })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await partnersOf(store).list()).toHaveLength(1);
  });

  test("a suspension, a limit of addresses and their ends show within a second wherever a token is asked for", async () => {
    const { store, another, desk, actions } = await openAccess(makeDatabase);
    const other = await another();
    await addToken(store);
    await partnersOf(store).add("bank", by(START));
    const seen = async () => {
      const { status, allowedAddresses } = (await other.findAccessToken(HASH))?.partner ?? {};
      return [status, allowedAddresses?.ranges];
    };
    const change = (to: object) => run(desk, changePartner, { name: "wallet", ...to });
    expect(await seen()).toEqual(["active", undefined]);
    const limited = { status: "suspended", allowedAddresses: OFFICE };
    expect(await change(limited)).toMatchObject(limited);
    await withinASecond(async () => expect(await seen()).toEqual(["suspended", OFFICE]));
    expect((await other.findAccessToken(HASH))?.partner.allowedAddresses?.has("203.0.113.9")).toBe(true);
    expect(await change({ status: "active", allowedAddresses: null })).toMatchObject({ allowedAddresses: null });
    await withinASecond(async () => expect(await seen()).toEqual(["active", undefined]));
    expect(await change({ status: "active", allowedAddresses: null })).toMatchObject({ status: "active" });
    const both = ["partner.suspend", "partner.allow"];
    expect((await actions()).slice(0, 4)).toEqual(["partner.resume", "partner.allow", ...both]);
    expect((await partnersOf(store).list()).map(({ status }) => status)).toEqual(["active", "active"]);
  });

  test("limits of a partner show within a second wherever a token is asked for, and defaults are not kept", async () => {
    const { store, another, desk, actions } = await openAccess(makeDatabase);
    const other = await another();
    await addToken(store);
    const rowOf = () => store.engine.db.selectFrom("partner").select("limits").executeTakeFirst();
    const limit = (to: object) => run(desk, limitPartner, { name: "wallet", ...to });
    expect((await other.findAccessToken(HASH))?.partner.limits).toEqual(DEFAULT_LIMITS);
    expect(await limit({ rate: 200, newLookUps: 2000 })).toMatchObject({ rate: 200, burst: 500, newLookUps: 2000 });
    const set = { ...DEFAULT_LIMITS, rate: 200, newLookUps: 2000 };
    await withinASecond(async () => expect((await other.findAccessToken(HASH))?.partner.limits).toEqual(set));
    expect(await limit({ newLookUps: 600, rate: 200 })).toMatchObject({ rate: 200, newLookUps: 600 });
    expect(await rowOf()).toEqual({ limits: '{"rate":200}' });
    await limit({ rate: 50 });
    await limit({});
    expect(await rowOf()).toEqual({ limits: null });
    expect(await actions()).toEqual([...Array(3).fill("partner.limit"), "token.issue", "partner.add"]);
    const none = run(desk, limitPartner, { name: "nobody", rate: 1 });
    expect(await refusal(none)).toMatchObject({ code: "not_found" });
  });

  test("a partner calls from addresses only, and each of them once", async () => {
    const { desk } = await openAccess(makeDatabase);
    await run(desk, addPartner, { name: "wallet" });
    const allow = (...allowedAddresses: string[]) => run(desk, changePartner, { name: "wallet", allowedAddresses });
    expect(await allow(" 203.0.113.7", "203.0.113.7")).toMatchObject({ allowedAddresses: ["203.0.113.7"] });
    for (const bad of ["0.0.0.0/0", "203.0.113.7/24", "wallet.example"]) {
      const { code, problems } = await refusal(allow("203.0.113.7", bad));
      expect([code, problems]).toEqual([
        "invalid",
        [{ field: "allowedAddresses", problem: expect.stringMatching(/^must .*, but one is "/) }],
      ]);
    }
  });

  test("a token is found by its hash, as it was issued, with its partner", async () => {
    const { store, desk, actions } = await openAccess(makeDatabase);
    await run(desk, addPartner, { name: "wallet" });
    const lasting = await run(desk, issueToken, { partner: "wallet" });
    const trial = await run(desk, issueToken, { partner: "wallet", environment: "trial" });
    expect(lasting).toEqual({
      ...{ id: expect.stringMatching(/^tok_[0-9a-f]{18}$/), partner: "wallet", environment: "production" },
      ...{
        state: "valid",
        createdAt: iso(START),
        expiresAt: null,
        revokedAt: null,
        replacedBy: null,
        lastUsedAt: null,
        isCertified: false,
      },
      token: expect.stringMatching(/^topup_live_[0-9A-Za-z]{49}$/),
    });
    const [partner] = await partnersOf(store).list();
    const { id, token } = lasting;
    expect(await store.findAccessToken(hashSecret(token))).toMatchObject({ id, partner, expiresAt: undefined });
    expect(await store.findAccessToken(hashSecret(trial.token))).toMatchObject({
      ...{ id: trial.id, environment: "trial", expiresAt: START + 7 * DAY_MS },
    });
    expect(trial.token).toMatch(/^topup_trial_/);
    expect(await store.findAccessToken(hashSecret(token).subarray(0, 31))).toBeUndefined();
    expect(JSON.stringify(await run(desk, listTokens, {}))).not.toContain(token.slice(-20));
    expect((await actions()).slice(0, 2)).toEqual(["token.issue", "token.issue"]);
  });

  test.each([
    ["Asia/Kathmandu", "2099-12-31", "2099-12-31T18:14:59.999Z"],
    ["Asia/Kathmandu", "2099-12-31T18:00:00+05:45", "2099-12-31T12:15:00.000Z"],
  ])("in %s, a token of %s is valid until %s", async (timeZone, expiresAt, end) => {
    const { desk } = await openAccess(makeDatabase, { timeZone });
    await run(desk, addPartner, { name: "wallet" });
    expect((await run(desk, issueToken, { partner: "wallet", expiresAt })).expiresAt).toBe(end);
  });

  test("no token is issued with an end that is none, is past or is a trial token's", async () => {
    const { store, desk } = await openAccess(makeDatabase);
    await run(desk, addPartner, { name: "wallet" });
    const problemOf = async (expiresAt: string, environment?: "trial") => {
      const input = { partner: "wallet", expiresAt, ...(environment && { environment }) };
      const { problems } = await refusal(run(desk, issueToken, input));
      return problems.map(({ field, problem }) => `${field} ${problem}`);
    };
    const unclear = "expiresAt must be a day such as 2026-11-20, or a time in ISO 8601 with its zone";
    for (const text of ["tomorrow", "2099-02-30", "2099-12-31T18:00:00", ""])
      expect(await problemOf(text)).toEqual([unclear]);
    expect(await problemOf("2020-01-01")).toEqual(["expiresAt must be in the future"]);
    expect(await problemOf("2099-12-31", "trial")).toEqual([
      "expiresAt is for production tokens: a trial token always ends after 7 days",
    ]);
    expect(await partnersOf(store).listTokens()).toEqual([]);
  });

  test("a revocation shows within a second, leaves other tokens, and keeps its first instant", async () => {
    const { opened, store, another, desk, actions } = await openAccess(makeDatabase);
    const other = await another();
    const { id } = await addToken(store);
    await addToken(store, "tok_2", OTHER_HASH);
    expect((await other.findAccessToken(HASH))?.revokedAt).toBeUndefined();
    opened.now += 5;
    const revoked = { id, state: "revoked", revokedAt: iso(START + 5) };
    expect(await run(desk, revokeToken, { id })).toMatchObject(revoked);
    opened.now += 4;
    expect(await run(desk, revokeToken, { id })).toMatchObject(revoked);
    await withinASecond(async () => expect((await other.findAccessToken(HASH))?.revokedAt).toBe(START + 5));
    expect((await other.findAccessToken(OTHER_HASH))?.revokedAt).toBeUndefined();
    expect(await refusal(run(desk, revokeToken, { id: "tok_unknown" }))).toMatchObject({ code: "not_found" });
    expect((await actions()).filter((action) => action === "token.revoke")).toHaveLength(1);
  });

  test.each([
    ["usual", {}, DAY_MS, "valid"],
    ["of none", { overlapHours: 0 }, 0, "expired"],
    ["of half an hour", { overlapHours: 0.5 }, 30 * 60_000, "valid"],
  ])("a rotation with an overlap %s shows within a second: the old token's end, and the new token", async (...each) => {
    const [, overlap, overlapMs, state] = each;
    const { store, another, desk, actions } = await openAccess(makeDatabase);
    const other = await another();
    const token = await addToken(store, "tok_old", HASH, { expiresAt: START + 9 * DAY_MS });
    expect((await other.findAccessToken(HASH))?.expiresAt).toBe(START + 9 * DAY_MS);
    const rotated = await run(desk, rotateToken, { id: token.id, ...overlap });
    const formerUntil = iso(START + overlapMs);
    expect(rotated).toMatchObject({ formerId: "tok_old", formerUntil, expiresAt: iso(START + 9 * DAY_MS) });
    const former = { ...token, expiresAt: START + overlapMs, replacedBy: rotated.id };
    await withinASecond(async () => expect(await other.findAccessToken(HASH)).toEqual(former));
    const successor = { ...token, id: rotated.id, createdAt: START };
    expect(await other.findAccessToken(hashSecret(rotated.token))).toEqual(successor);
    const { items } = await run(desk, listTokens, { partner: "wallet" });
    expect(items).toMatchObject([
      { id: "tok_old", state, replacedBy: rotated.id },
      { id: rotated.id, state: "valid" },
    ]);
    expect((await actions()).slice(0, 2)).toEqual(["token.issue", "token.rotate"]);
  });

  test("of two rotations at once, one issues a token and the other names it", async () => {
    const { store, another } = await openAccess(makeDatabase);
    await addToken(store);
    const rotate = (of: Store, seed: number) =>
      run(deskOf({ store: of, clock: () => START, random: seededRandom(seed) }), rotateToken, { id: "tok_old" });
    const rotations = await Promise.allSettled([rotate(store, 1), rotate(await another(), 2)]);
    const won = rotations.flatMap((each) => (each.status === "fulfilled" ? [each.value.id] : []));
    const [lost] = rotations.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
    expect(await refusal(Promise.reject(lost))).toMatchObject({
      code: "conflict",
      words: `this token was replaced by ${won[0]} already: rotate that one`,
    });
    expect((await partnersOf(store).listTokens()).map(({ id }) => id)).toEqual(["tok_old", ...won]);
  });

  test("what cannot be rotated is left as it is, without an entry in the audit trail", async () => {
    const { store, desk, actions } = await openAccess(makeDatabase);
    const revoked = await addToken(store);
    await run(desk, revokeToken, { id: "tok_old" });
    const ended = await addToken(store, "tok_ended", OTHER_HASH, { expiresAt: START });
    const entries = await actions();
    const rotate = (id: string) => refusal(run(desk, rotateToken, { id }));
    expect(await rotate("tok_old")).toMatchObject({ words: "this token was revoked: issue a new one" });
    expect(await rotate("tok_ended")).toMatchObject({ words: "this token has ended: issue a new one" });
    expect(await rotate("tok_never")).toMatchObject({ code: "not_found" });
    expect(await partnersOf(store).listTokens()).toEqual([ended, { ...revoked, revokedAt: START }]);
    expect(await actions()).toEqual(entries);
  });

  test("of the uses that processes record, the latest of each token is kept, and shown with its partner", async () => {
    const { store, another, desk } = await openAccess(makeDatabase);
    const other = await another();
    await addToken(store);
    await addToken(store, "tok_other", OTHER_HASH);
    const uses = (of: Store) => readLastUses(of.engine.db);
    expect(await uses(store)).toEqual(new Map());
    await store.recordTokenUses(new Map([["tok_old", START + 5]]));
    await other.recordTokenUses(new Map([["tok_old", START + 3]]));
    expect(await uses(store)).toEqual(new Map([["tok_old", START + 5]]));
    const both = new Map([
      ["tok_other", START],
      ["tok_old", START + 9],
    ]);
    const earlier = new Map([
      ["tok_old", START + 8],
      ["tok_other", START],
    ]);
    await Promise.all([store.recordTokenUses(both), other.recordTokenUses(earlier)]);
    expect(await uses(other)).toEqual(both);
    const { items } = await run(desk, listPartners, {});
    expect(items).toMatchObject([{ name: "wallet", validTokens: 2, lastUsedAt: iso(START + 9) }]);
  });
}

async function openAccess(makeDatabase: MakeDatabase, options: { readonly timeZone?: string } = {}) {
  const opened: OpenedStore = await openStore(makeDatabase, options);
  const { store, another } = opened;
  const desk = deskOf({ store, clock: () => opened.now });
  const actions = async () => (await listEntries(store.engine.db, {}, 100)).map(({ action }) => action);
  return { opened, store, another, desk, actions };
}

/** Adds a token, and with the first one the partner "wallet". */
async function addToken(
  store: Store,
  id = "tok_old",
  hash: Uint8Array = HASH,
  given: Partial<AccessToken> = {},
): Promise<AccessToken> {
  const partners = partnersOf(store);
  const partner = (await partners.find("wallet")) ?? (await partners.add("wallet", by(1)));
  const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  const token = { id, partner, environment: "production", createdAt: 2, ...ends, ...given } as const;
  await partners.addToken(token, hash, by(1));
  return token;
}

import { expect, test } from "vitest";
import { type AccessToken, hashAccessToken, type Partner } from "../../src/domain/access-token.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore, withinASecond } from "./database.ts";

const HASH = hashAccessToken("the old one");
const NEW_HASH = hashAccessToken("the new one");
const OTHER_HASH = hashAccessToken("another new one");
const DAY_MS = 86_400_000;
const TO = { id: "tok_new", overlapMs: DAY_MS, expiresAt: "as_before" } as const;
const OFFICE = new AddressList(["203.0.113.0/24", "2001:db8::/32"]);

export function testAccess(makeDatabase: MakeDatabase): void {
  test("a partner that was added is active, and found by its name alone", async () => {
    const { store, now } = await openStore(makeDatabase);
    const added = await store.partners.add("wallet", by(now));
    const wallet = { name: "wallet", status: "active", createdAt: now, allowedAddresses: undefined };
    expect(added).toEqual({ id: expect.any(Number), ...wallet });
    expect(await store.partners.find("wallet")).toEqual(added);
    expect(await store.partners.find("Wallet")).toBeUndefined();
    expect(await store.partners.setStatus("nobody", "suspended", by(now))).toBeUndefined();
    expect(await store.partners.setAllowedAddresses("nobody", OFFICE, by(now))).toBeUndefined();
    expect(await store.partners.list()).toEqual([added]);
  });

  test("of two stores that add the same name at once, one is told that it is taken", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const answers = await Promise.all([store, other, store, other].map((each) => each.partners.add("wallet", by(now))));
    expect(answers.filter((answer) => answer === "name_taken")).toHaveLength(3);
    expect(await other.partners.list()).toHaveLength(1);
  });

  test("a suspension and its end show within a second wherever a token is asked for", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store);
    await store.partners.add("bank", by(now));
    const statusOf = async () => (await other.findAccessToken(HASH))?.partner.status;
    expect(await statusOf()).toBe("active");
    await store.partners.setStatus("wallet", "suspended", by(now));
    await withinASecond(async () => expect(await statusOf()).toBe("suspended"));
    await other.partners.setStatus("wallet", "active", by(now));
    expect(await statusOf()).toBe("active");
    expect((await store.partners.list()).map(({ status }) => status)).toEqual(["active", "active"]);
  });

  test("allowed addresses show within a second, and so does their end", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const { partner } = await addToken(store);
    const allowedIn = async () => (await other.findAccessToken(HASH))?.partner.allowedAddresses?.ranges;
    expect(await allowedIn()).toBeUndefined();
    const limited = await store.partners.setAllowedAddresses("wallet", OFFICE, by(now));
    expect(limited).toEqual({ ...partner, allowedAddresses: OFFICE });
    await withinASecond(async () => expect(await allowedIn()).toEqual(OFFICE.ranges));
    expect((await other.findAccessToken(HASH))?.partner.allowedAddresses?.has("203.0.113.9")).toBe(true);
    await store.partners.setAllowedAddresses("wallet", undefined, by(now));
    await withinASecond(async () => expect(await allowedIn()).toBeUndefined());
  });

  test("a token is found by its hash, as it was added, with its partner", async () => {
    const { store, now } = await openStore(makeDatabase);
    const lasting = await addToken(store);
    const ending = await addToken(store, "tok_2", OTHER_HASH, { environment: "trial", expiresAt: now + 1 });
    expect(await store.findAccessToken(HASH)).toEqual(lasting);
    expect(await store.findAccessToken(OTHER_HASH)).toEqual(ending);
    expect(await store.findAccessToken(NEW_HASH)).toBeUndefined();
    expect(await store.findAccessToken(HASH.subarray(0, 31))).toBeUndefined();
  });

  test("a revocation shows within a second, leaves other tokens, and keeps its first instant", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const token = await addToken(store);
    await addToken(store, "tok_2", OTHER_HASH);
    expect((await other.findAccessToken(HASH))?.revokedAt).toBeUndefined();
    expect(await store.partners.revokeToken(token.id, by(now + 5))).toEqual({ ...token, revokedAt: now + 5 });
    expect((await other.partners.revokeToken(token.id, by(now + 9)))?.revokedAt).toBe(now + 5);
    await withinASecond(async () => expect((await other.findAccessToken(HASH))?.revokedAt).toBe(now + 5));
    expect((await other.findAccessToken(OTHER_HASH))?.revokedAt).toBeUndefined();
    expect(await store.partners.revokeToken("tok_unknown", by(now))).toBeUndefined();
  });

  test("a rotation shows within a second: the old token's end, and the new token", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const token = await addToken(store);
    expect((await other.findAccessToken(HASH))?.expiresAt).toBeUndefined();
    const rotated = await store.partners.rotateToken(token.id, TO, NEW_HASH, by(now));
    const former = { ...token, expiresAt: now + DAY_MS, replacedBy: "tok_new" };
    const successor = { ...token, id: "tok_new", createdAt: now };
    expect(rotated).toEqual({ kind: "rotated", former, successor });
    await withinASecond(async () => expect(await other.findAccessToken(HASH)).toEqual(former));
    expect(await other.findAccessToken(NEW_HASH)).toEqual(successor);
  });

  test("of two rotations at once, one issues a token and the other names it", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store);
    const rotations = await Promise.all([
      store.partners.rotateToken("tok_old", TO, NEW_HASH, by(now)),
      other.partners.rotateToken("tok_old", { ...TO, id: "tok_other" }, OTHER_HASH, by(now)),
    ]);
    const [won, lost] = rotations[0]?.kind === "rotated" ? rotations : rotations.toReversed();
    const successor = won?.kind === "rotated" ? won.successor.id : undefined;
    expect(lost).toMatchObject({ kind: "replaced", token: { replacedBy: successor, expiresAt: now + DAY_MS } });
    expect((await store.partners.listTokens()).map(({ id }) => id)).toEqual(["tok_old", successor]);
  });

  test("what cannot be rotated is left as it is, without an entry in the audit trail", async () => {
    const { store, now } = await openStore(makeDatabase);
    const token = await addToken(store);
    await store.partners.revokeToken("tok_old", by(now));
    const entries = await store.auditTrail.list({}, 100);
    expect(await store.partners.rotateToken("tok_old", TO, NEW_HASH, by(now))).toMatchObject({ kind: "revoked" });
    expect(await store.partners.rotateToken("tok_never", TO, NEW_HASH, by(now))).toBeUndefined();
    expect(await store.partners.listTokens()).toEqual([{ ...token, revokedAt: now }]);
    expect(await store.auditTrail.list({}, 100)).toEqual(entries);
  });

  test("of the uses that processes record, the latest of each token is kept", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store);
    await addToken(store, "tok_other", OTHER_HASH);
    expect(await store.partners.lastUses()).toEqual(new Map());
    await store.partners.recordUses(new Map([["tok_old", now + 5]]));
    await other.partners.recordUses(new Map([["tok_old", now + 3]]));
    expect(await store.partners.lastUses()).toEqual(new Map([["tok_old", now + 5]]));
    const both = new Map<string, number>([
      ["tok_other", now],
      ["tok_old", now + 9],
    ]);
    const earlier = new Map<string, number>([
      ["tok_old", now + 8],
      ["tok_other", now],
    ]);
    await Promise.all([store.partners.recordUses(both), other.partners.recordUses(earlier)]);
    expect(await other.partners.lastUses()).toEqual(both);
  });
}

/** Adds a token of the partner "wallet", which comes with the first one. */
async function addToken(
  store: Store,
  id = "tok_old",
  hash: Uint8Array = HASH,
  given: Partial<AccessToken> = {},
): Promise<AccessToken> {
  const partner = (await store.partners.find("wallet")) ?? ((await store.partners.add("wallet", by(1))) as Partner);
  const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  const token = { id, partner, environment: "production", createdAt: 2, ...ends, ...given } as const;
  await store.partners.addToken(token, hash, by(1));
  return token;
}

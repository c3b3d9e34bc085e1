import { expect, test } from "vitest";
import { type AccessToken, hashAccessToken, type Partner } from "../../src/domain/access-token.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase, type OpenedStore, openStore, withinASecond } from "./database.ts";

const HASH = hashAccessToken("the old one");
const NEW_HASH = hashAccessToken("the new one");
const OTHER_HASH = hashAccessToken("another new one");
const DAY_MS = 86_400_000;
const TO = { id: "tok_new", overlapMs: DAY_MS, expiresAt: "as_before" } as const;
const OFFICE = new AddressList(["203.0.113.0/24", "2001:db8::/32"]);

export function testAccess(makeDatabase: MakeDatabase): void {
  test("a rotation shows in another open store within a second: the old token's end, and the new token", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const token = await addToken(store);
    expect((await other.findAccessToken(HASH))?.expiresAt).toBeUndefined();
    const rotated = await store.access.rotateToken(token.id, TO, NEW_HASH, by(now));
    const former = { ...token, expiresAt: now + DAY_MS, replacedBy: "tok_new" };
    const successor = { ...token, id: "tok_new", createdAt: now };
    expect(rotated).toEqual({ kind: "rotated", former, successor });
    await withinASecond(async () => expect(await other.findAccessToken(HASH)).toEqual(former));
    expect(await other.findAccessToken(NEW_HASH)).toEqual(successor);
    expect(await store.findAccessToken(HASH)).toEqual(former);
  });

  test("a rotation leaves two entries in the audit trail, and nothing secret", async () => {
    const { store, now } = await openStore(makeDatabase);
    await addToken(store);
    await store.access.rotateToken("tok_old", TO, NEW_HASH, by(now));
    const [issue, rotate] = await store.auditTrail.list({}, 2);
    expect(rotate).toMatchObject({ action: "token.rotate", subject: "tok_old" });
    const of = { partner: "wallet", environment: "production" };
    expect(JSON.parse(rotate?.before ?? "")).toEqual({ ...of, expiresAt: null, replacedBy: null });
    const end = new Date(now + DAY_MS).toISOString();
    expect(JSON.parse(rotate?.after ?? "")).toEqual({ ...of, expiresAt: end, replacedBy: "tok_new" });
    expect(issue).toMatchObject({ action: "token.issue", subject: "tok_new" });
  });

  test("of two rotations at once, one issues a token and the other names it", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store);
    const rotations = await Promise.all([
      store.access.rotateToken("tok_old", TO, NEW_HASH, by(now)),
      other.access.rotateToken("tok_old", { ...TO, id: "tok_other" }, OTHER_HASH, by(now)),
    ]);
    const [won, lost] = rotations[0]?.kind === "rotated" ? rotations : rotations.toReversed();
    const successor = won?.kind === "rotated" ? won.successor.id : undefined;
    expect(lost).toMatchObject({ kind: "replaced", token: { replacedBy: successor, expiresAt: now + DAY_MS } });
    const tokens = await store.listAccessTokens();
    expect(tokens.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
      ["tok_old", now + DAY_MS],
      [successor, undefined],
    ]);
  });

  test("a rotation and a revocation at once leave the token revoked", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store);
    await Promise.all([
      store.access.rotateToken("tok_old", TO, NEW_HASH, by(now)),
      other.revokeAccessToken("tok_old", by(now)),
    ]);
    const old = (await store.listAccessTokens()).find(({ id }) => id === "tok_old");
    expect(old?.revokedAt).toBe(now);
  });

  test.each([
    ["ends never", "UPDATE access_token SET expires_at = NULL WHERE id = 'tok_old'"],
    ["has no successor", "UPDATE access_token SET replaced_by = 'tok_gone' WHERE id = 'tok_old'"],
    ["has one for another environment", "UPDATE access_token SET environment = 'trial' WHERE id = 'tok_new'"],
  ])("a rotated token that %s is found by a check", async (_, damage) => {
    const { store, database, now } = await openStore(makeDatabase);
    await addToken(store);
    await store.access.rotateToken("tok_old", TO, NEW_HASH, by(now));
    expect(await findWrong(store)).toEqual([]);
    await database.tamper(damage);
    expect(await findWrong(store)).toEqual(["1 tokens that were replaced by none of their partner's, or never end"]);
  });

  test("what cannot be rotated is left as it is, without an entry in the audit trail", async () => {
    const { store, now } = await openStore(makeDatabase);
    const token = await addToken(store);
    await store.revokeAccessToken("tok_old", by(now));
    const entries = await store.auditTrail.list({}, 100);
    expect(await store.access.rotateToken("tok_old", TO, NEW_HASH, by(now))).toMatchObject({ kind: "revoked" });
    expect(await store.access.rotateToken("tok_never", TO, NEW_HASH, by(now))).toBeUndefined();
    expect(await store.listAccessTokens()).toEqual([{ ...token, revokedAt: now }]);
    expect(await store.auditTrail.list({}, 100)).toEqual(entries);
  });

  test("allowed addresses show within a second in every open store, and so does their end", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const { partner } = await addToken(store);
    const allowedIn = async () => (await other.findAccessToken(HASH))?.partner.allowedAddresses?.ranges;
    expect(await allowedIn()).toBeUndefined();
    const limited = await store.access.setAllowedAddresses("wallet", OFFICE, by(now));
    expect(limited).toEqual({ ...partner, allowedAddresses: OFFICE });
    await withinASecond(async () => expect(await allowedIn()).toEqual(OFFICE.ranges));
    expect((await other.findAccessToken(HASH))?.partner.allowedAddresses?.has("203.0.113.9")).toBe(true);
    expect(await other.findPartner("wallet")).toEqual(limited);
    await store.access.setAllowedAddresses("wallet", undefined, by(now));
    await withinASecond(async () => expect(await allowedIn()).toBeUndefined());
  });

  test("allowed addresses are written into the audit trail where they change", async () => {
    const { store, now } = await openStore(makeDatabase);
    await addToken(store);
    await store.access.setAllowedAddresses("wallet", OFFICE, by(now));
    await store.access.setAllowedAddresses("wallet", new AddressList([...OFFICE.ranges]), by(now));
    await store.access.setAllowedAddresses("wallet", undefined, by(now));
    const entries = (await store.auditTrail.list({}, 100)).filter(({ action }) => action === "partner.allow");
    expect(entries.map(({ before, after }) => [JSON.parse(before ?? ""), JSON.parse(after ?? "")])).toEqual([
      [{ addresses: OFFICE.ranges }, { addresses: null }],
      [{ addresses: null }, { addresses: OFFICE.ranges }],
    ]);
  });

  test("a partner that was never added is not limited, and limiting one leaves the others", async () => {
    const { store, now } = await openStore(makeDatabase);
    await store.addPartner("bank", by(now));
    await store.addPartner("wallet", by(now));
    expect(await store.access.setAllowedAddresses("nobody", OFFICE, by(now))).toBeUndefined();
    await store.access.setAllowedAddresses("wallet", OFFICE, by(now));
    const allowed = (await store.listPartners()).map(({ allowedAddresses }) => allowedAddresses?.ranges);
    expect(allowed).toEqual([undefined, OFFICE.ranges]);
  });

  test("of the uses that processes record, the latest of each token is kept", async () => {
    const opened = await openStore(makeDatabase);
    const { store, now } = opened;
    const other = await opened.another();
    await addToken(store);
    await addToken(store, "tok_other", OTHER_HASH);
    expect(await store.access.lastUses()).toEqual(new Map());
    await store.access.recordUses(new Map([["tok_old", now + 5]]));
    await other.access.recordUses(new Map([["tok_old", now + 3]]));
    expect(await store.access.lastUses()).toEqual(new Map([["tok_old", now + 5]]));
    const both = {
      later: new Map([
        ["tok_other", now],
        ["tok_old", now + 9],
      ]),
      earlier: new Map([
        ["tok_old", now + 8],
        ["tok_other", now],
      ]),
    };
    await Promise.all([store.access.recordUses(both.later), other.access.recordUses(both.earlier)]);
    const uses = new Map([
      ["tok_old", now + 9],
      ["tok_other", now],
    ]);
    expect(await other.access.lastUses()).toEqual(uses);
    expect(await countRows(opened, "access_token_use")).toBe(2);
  });

  test("a use of a token that is gone is left out, and the others are recorded", async () => {
    const { store, now } = await openStore(makeDatabase);
    await addToken(store);
    await store.access.recordUses(
      new Map([
        ["tok_gone", now],
        ["tok_old", now],
      ]),
    );
    expect(await store.access.lastUses()).toEqual(new Map([["tok_old", now]]));
  });

  test("recording uses leaves what this process remembers of tokens", async () => {
    const opened = await openStore(makeDatabase);
    const { store, now } = opened;
    await addToken(store);
    const remembered = await rememberedToken(opened);
    await store.access.recordUses(new Map([["tok_old", now]]));
    expect(await store.findAccessToken(HASH)).toBe(remembered);
  });
}

/** Once it is remembered, the same object is given again. */
async function rememberedToken({ store }: OpenedStore): Promise<AccessToken | undefined> {
  let last: AccessToken | undefined;
  await withinASecond(async () => {
    const before = last;
    last = await store.findAccessToken(HASH);
    expect(last).toBe(before ?? {});
  });
  return last;
}

/** Adds a token of the partner "wallet", which comes with the first one. */
async function addToken(store: Store, id = "tok_old", hash: Uint8Array = HASH): Promise<AccessToken> {
  const partner = (await store.findPartner("wallet")) ?? ((await store.addPartner("wallet", by(1))) as Partner);
  const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
  const token = { id, partner, environment: "production", createdAt: 2, ...ends } as const;
  await store.addAccessToken(token, hash, by(1));
  return token;
}

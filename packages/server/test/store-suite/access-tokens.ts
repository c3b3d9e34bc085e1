import { expect, test } from "vitest";
import { type AccessToken, hashAccessToken, type Partner } from "../../src/domain/access-token.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore, withinASecond } from "./database.ts";

const HASH = hashAccessToken("the first");
const OTHER_HASH = hashAccessToken("the second");

export function testAccessTokens(makeDatabase: MakeDatabase): void {
  test("a token is found by its hash, as it was added, with its partner", async () => {
    const { store, now } = await openStore(makeDatabase);
    const lasting = await addToken(store, HASH, { createdAt: now });
    const ending = await addToken(store, OTHER_HASH, { id: "tok_2", environment: "trial", expiresAt: now + 1 });
    expect(await store.findAccessToken(HASH)).toEqual(lasting);
    expect(await store.findAccessToken(OTHER_HASH)).toEqual(ending);
  });

  test("a hash that nobody was given finds nothing", async () => {
    const { store } = await openStore(makeDatabase);
    await addToken(store, HASH);
    expect(await store.findAccessToken(OTHER_HASH)).toBeUndefined();
    expect(await store.findAccessToken(HASH.subarray(0, 31))).toBeUndefined();
  });

  test("a partner may hold several tokens at a time", async () => {
    const { store } = await openStore(makeDatabase);
    await addToken(store, HASH);
    await addToken(store, OTHER_HASH, { id: "tok_2" });
    expect((await store.findAccessToken(HASH))?.partner).toEqual((await store.findAccessToken(OTHER_HASH))?.partner);
  });

  test("an id or a hash that is taken is not given twice", async () => {
    const { store } = await openStore(makeDatabase);
    await addToken(store, HASH);
    await expect(addToken(store, OTHER_HASH)).rejects.toThrow();
    await expect(addToken(store, HASH, { id: "tok_2" })).rejects.toThrow();
    expect(await store.listAccessTokens()).toHaveLength(1);
  });

  test("tokens are listed oldest first", async () => {
    const { store, now } = await openStore(makeDatabase);
    await addToken(store, HASH, { id: "tok_later", createdAt: now + 1 });
    await addToken(store, OTHER_HASH, { id: "tok_earlier", createdAt: now });
    expect((await store.listAccessTokens()).map(({ id }) => id)).toEqual(["tok_earlier", "tok_later"]);
  });

  test("a revocation shows in another open store within a second", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const token = await addToken(store, HASH);
    expect((await other.findAccessToken(HASH))?.revokedAt).toBeUndefined();
    expect(await store.revokeAccessToken(token.id, by(now + 5))).toEqual({ ...token, revokedAt: now + 5 });
    await withinASecond(async () => expect((await other.findAccessToken(HASH))?.revokedAt).toBe(now + 5));
    expect((await store.findAccessToken(HASH))?.revokedAt).toBe(now + 5);
  });

  test("revoking twice keeps the first instant", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const { id } = await addToken(store, HASH);
    await store.revokeAccessToken(id, by(now + 5));
    expect((await (await another()).revokeAccessToken(id, by(now + 9)))?.revokedAt).toBe(now + 5);
    await withinASecond(async () => expect((await store.findAccessToken(HASH))?.revokedAt).toBe(now + 5));
  });

  test("revoking one token leaves the partner's others", async () => {
    const { store, now } = await openStore(makeDatabase);
    const { id } = await addToken(store, HASH);
    await addToken(store, OTHER_HASH, { id: "tok_2" });
    await store.revokeAccessToken(id, by(now));
    expect((await store.findAccessToken(OTHER_HASH))?.revokedAt).toBeUndefined();
  });

  test("an id that was never given cannot be revoked", async () => {
    const { store, now } = await openStore(makeDatabase);
    await addToken(store, HASH);
    expect(await store.revokeAccessToken("tok_unknown", by(now))).toBeUndefined();
    expect((await store.findAccessToken(HASH))?.revokedAt).toBeUndefined();
  });

  test("a suspended partner's token says so in every open store", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    await addToken(store, HASH);
    expect((await other.findAccessToken(HASH))?.partner.status).toBe("active");
    await store.setPartnerStatus("wallet", "suspended", by(1));
    await withinASecond(async () => expect((await other.findAccessToken(HASH))?.partner.status).toBe("suspended"));
  });
}

/** Adds a token of the partner "wallet", which comes with the first one. */
async function addToken(store: Store, hash: Uint8Array, given: Partial<AccessToken> = {}): Promise<AccessToken> {
  const partner = (await store.findPartner("wallet")) ?? ((await store.addPartner("wallet", by(1))) as Partner);
  const usual = { id: "tok_1", environment: "production", createdAt: 2, expiresAt: undefined } as const;
  const token = { ...usual, partner, revokedAt: undefined, replacedBy: undefined, ...given };
  await store.addAccessToken(token, hash, by(1));
  return token;
}

import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { AccessToken, Partner } from "../../src/domain/access-token.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import type { ArchiveChunk, ArchiveValue, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import type { MakeDatabase } from "./database.ts";
import {
  BOUQUETS,
  bouquet,
  expectRecorded,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  RAM_TV,
  restate,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const DAY = 86_400_000;

/** A provider who has had a past: something of everything that a database can hold. */
export interface FilledProvider extends OpenedProvider {
  /** Used; recorded as reversed; concluded unused; given out and still good. */
  readonly checkouts: Readonly<Record<"used" | "reversed" | "retired" | "open", TopUpCommand>>;
}

export async function openFilledProvider(makeDatabase: MakeDatabase): Promise<FilledProvider> {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  await addTokens(opened);
  await store.rotateCheckoutSecret(new Uint8Array(32).fill(7), by(opened.now));
  opened.now += DAY;

  await settle(opened, opened.command(RAM_TV, "TV-3M"), opened.command(SITA_TV, "KIDS-1M"));
  await settle(opened, opened.command(SITA_NET, "NET-1M", { udf1: "सीता", udf2: "{\"a\": '1'}" }));
  await restateAndReset(opened);
  const reversed = opened.command(RAM_NET, "NET-3M");
  const used = opened.command(SITA_IPTV, "ITV-1M");
  await settle(opened, reversed, used);
  await store.corrections.reverse(reversed.checkoutId, { ...by(opened.now), reason: "paid twice" });
  await giveTooMuch(opened);
  const retired = opened.command(SITA_NET, "NET-1M");
  await store.concludeCheckout(retired.checkoutId);
  await publishMore(opened);
  await importHistory(opened);
  await store.retention.moveHorizon(opened.now - 365 * DAY, by(opened.now));
  return Object.assign(opened, { checkouts: { used, reversed, retired, open: opened.command(SITA_NET, "NET-1M") } });
}

async function giveTooMuch({ store, now }: OpenedProvider): Promise<void> {
  const given = { ...RAM_TV, plan: undefined };
  expect(await store.corrections.grantGoodwill({ ...given, days: 10 }, { ...by(now), reason: "outage" })).toMatchObject(
    {
      kind: "granted",
    },
  );
  const back = await store.corrections.takeBackGoodwill({ ...given, days: 7 }, { ...by(now), reason: "3 were meant" });
  expect(back).toMatchObject({ kind: "taken_back" });
}

export function hashOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

export async function collect(store: Store): Promise<ArchiveChunk[]> {
  return store.exportArchive("wait", gather);
}

async function gather(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveChunk[]> {
  const gathered: ArchiveChunk[] = [];
  for await (const chunk of chunks) gathered.push(chunk);
  return gathered;
}

/** What a store holds in a form that two databases share, in whatever order they keep their rows. */
export async function archiveOf(store: Store): Promise<unknown> {
  return inOrder(await collect(store));
}

/** The same of an archive that is there already. */
export async function contentsOf(chunks: AsyncIterable<ArchiveChunk>): Promise<unknown> {
  return inOrder(await gather(chunks));
}

function inOrder(chunks: readonly ArchiveChunk[]): string[] {
  const lines: string[] = [];
  for (const chunk of chunks) {
    if (chunk.kind === "totals") lines.push(plain(chunk.totals));
    else lines.push(...chunk.rows.map((row) => `${chunk.table} ${plain(row.map(inHex))}`));
  }
  return lines.sort();
}

function inHex(value: ArchiveValue) {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
}

async function settle({ store }: OpenedProvider, ...commands: readonly TopUpCommand[]): Promise<void> {
  for (const command of commands) expectRecorded(await store.settleTopUp(command));
}

async function addTokens({ store, now, partner }: OpenedProvider): Promise<void> {
  const suspended = (await store.addPartner("Ćevap & Söhne", by(now))) as Partner;
  await store.setPartnerStatus(suspended.name, "suspended", by(1));
  const token = (id: string, more: Partial<AccessToken>): AccessToken => {
    const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
    return { id, partner, environment: "production", createdAt: now, ...ends, ...more };
  };
  await store.addAccessToken(token("tok_valid", {}), hashOf("valid"), by(1));
  await store.addAccessToken(
    token("tok_trial", { environment: "trial", expiresAt: now + 7 * DAY }),
    hashOf("trial"),
    by(1),
  );
  await store.addAccessToken(token("tok_expired", { expiresAt: now - 1 }), hashOf("expired"), by(1));
  await store.addAccessToken(token("tok_revoked", { partner: suspended }), hashOf("revoked"), by(1));
  await store.revokeAccessToken("tok_revoked", by(now + 5));
  await store.access.rotateToken(
    "tok_valid",
    { id: "tok_newer", overlapMs: DAY, expiresAt: "as_before" },
    hashOf("newer"),
    by(now + 6),
  );
  await store.access.recordUses(new Map([["tok_valid", now + 7]]));
  await store.access.setAllowedAddresses("wallet", new AddressList(["203.0.113.0/24", "2001:db8::1"]), by(now + 8));
}

/** A subscription that is withdrawn, one that is moved, a connection that is gone, and a reset. */
async function restateAndReset({ store, now }: OpenedProvider): Promise<void> {
  const { internet } = SITA.connections;
  await restate(store, now + 1, { ...SITA, last_name: "", connections: { internet, iptv: SITA.connections.iptv } });
  await restate(store, now + 2, SITA);
  await store.importCustomers("production", [statedCustomer(SITA)], by(now + 3), "reset");
}

/** A top-up of another topupd, at a price that no catalogue here has. */
async function importHistory(opened: OpenedProvider): Promise<void> {
  const { checkout: _, ...command } = opened.command(SITA_TV, "TV-1M", { amount: 12_345n, udf2: "order 7" });
  const transaction = { ...command, at: opened.now, status: "success", imported: true } as const;
  await opened.store.history.import("production", [{ transaction, reversal: undefined }], by(opened.now));
}

async function publishMore({ store, now }: OpenedProvider): Promise<void> {
  await store.publishCatalogue("trial", [bouquet("tv", "TRY", "Try (7 DAYS)", "1", { segments: ["a", "ü"] })], by(now));
  await store.publishCatalogue("production", BOUQUETS.slice(0, 5), by(now));
  const again = { ...SITA, first_name: "Trial", mobile: "9800000999" };
  await store.importCustomers("trial", [statedCustomer(again)], by(now), "unsaid");
}

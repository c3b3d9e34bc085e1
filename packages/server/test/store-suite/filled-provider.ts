import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { AccessToken } from "../../src/domain/access-token.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import { connectionSubject } from "../../src/domain/subject.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { raiseAlert } from "../../src/office/alerts/sql.ts";
import { previewBulk } from "../../src/office/bulk/preview.ts";
import { grantGoodwill, reverseGoodwill } from "../../src/office/corrections/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { addNote } from "../../src/office/customers/notes.ts";
import { beginRun, endRun, replaceHeldBack } from "../../src/office/imports/runs.ts";
import { noteBackup, noteCheck } from "../../src/office/maintenance/backups.ts";
import { rotateCheckoutSecret } from "../../src/office/maintenance/operations.ts";
import { rotateToken } from "../../src/office/partners/tokens.ts";
import { beginAnswer, beginLogIn, openSession } from "../../src/office/session/sql.ts";
import { closeShift, openShift } from "../../src/office/shifts/seller.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { putTax } from "../../src/office/taxes/sql.ts";
import { change, dueOf } from "../../src/store/due.ts";
import type { ArchiveValue } from "../../src/store/engine.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { deskOf, listOf, NO_LIMITS, run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { addSeller } from "../support/sellers.ts";
import { STORED_PASSWORD, staffOf } from "../support/staff.ts";
import type { MakeDatabase } from "./database.ts";
import {
  BOUQUETS,
  bouquet,
  expectRecorded,
  fileRules,
  moment,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

/** A provider with a past: rows in every table. */
export interface FilledProvider extends OpenedProvider {
  /** Checkouts: used, reversed, concluded without a top-up, and still usable. */
  readonly checkouts: Readonly<Record<"used" | "reversed" | "retired" | "refused" | "open", TopUpCommand>>;
}

export async function openFilledProvider(makeDatabase: MakeDatabase): Promise<FilledProvider> {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  await addTokens(opened);
  await run(opened.desk(), rotateCheckoutSecret, {});
  opened.now += DAY_MS;
  const targetId = await addWebhook(opened);
  for (const command of [
    opened.command(RAM_TV, "TV-3M"),
    opened.command(SITA_TV, "KIDS-1M", { sale: { seller: "mina", method: "cash" } }),
    opened.command(SITA_NET, "NET-1M", { udf1: "सीता", udf2: "{\"a\": '1'}" }),
  ])
    expectRecorded(await store.settleTopUp(command));
  await restateAndReset(opened);
  const [reversed, used] = [opened.command(RAM_NET, "NET-3M"), opened.command(SITA_IPTV, "ITV-1M")];
  for (const command of [reversed, used]) expectRecorded(await store.settleTopUp(command));
  await correct(opened, { reversed: reversed.checkoutId, used: used.checkoutId });
  await failToDeliver(opened, targetId);
  const retired = opened.command(SITA_NET, "NET-1M");
  await store.concludeCheckout(retired.checkoutId);
  const refused = opened.command(SITA_NET, "NET-1M");
  const near = await opened.another({ monthsAhead: 0 });
  await near.settleTopUp(refused);
  await near.close();
  await publishMore(opened);
  await useConsole(opened);
  await keepAccounts(opened);
  await countCash(opened);
  await moveHorizon(opened, opened.now - 365 * DAY_MS);
  return Object.assign(opened, {
    checkouts: { used, reversed, retired, refused, open: opened.command(SITA_NET, "NET-1M") },
  });
}

/** A guarded account with an entry by staff, the sums of a day whose history was deleted, and an alert. */
async function keepAccounts({ store, partner, now }: OpenedProvider): Promise<void> {
  const key = { partnerId: partner.id, environment: "production" } as const;
  const { instant: at, wall } = store.provider.zone.moment(now);
  const entry = { ...key, reference: "opening", kind: "deposit", reason: "first", author: "test", at, wall } as const;
  const sums = { amount: 45_000, topUps: 2, commission: 900, reversals: 1, returned: 450 };
  await store.engine.transact(async (tx) => {
    await tx
      .insertInto("accountEntry")
      .values({ ...entry, amount: 1_000_000 })
      .execute();
    await tx
      .insertInto("salesDay")
      .values({
        ...key,
        day: "2025-03-01",
        service: "tv",
        bouquetCode: "TV-1M",
        soldOn: "2025-03-01",
        lane: 3,
        ...sums,
      })
      .execute();
  });
  await store.engine.transact((tx) => putTax(tx, { service: "tv", name: "VAT", share: 143_000, from: "2025-01-01" }));
  await setAccount(store, key, { creditLimit: 9_000_000n });
  const event = { kind: "account.low", partnerId: partner.id, below: 2_000_000n } as const;
  const low = { kind: "account_low", environment: "production", subject: "wallet", amount: 1_000_000n, event } as const;
  await raiseAlert(store.engine, low, at);
}

/** A seller's closed shift. */
async function countCash({ store, partner, now }: OpenedProvider): Promise<void> {
  const desk = deskOf({ store, clock: () => now }, await addSeller(store, "mina", partner.id, now));
  await run(desk, openShift, { opening: "500" });
  expect(await run(desk, closeShift, { counted: "600" })).toMatchObject({ expected: "600.00" });
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

/** The content of a store, independent of the order of rows. */
export async function archiveOf(store: Store): Promise<unknown> {
  return inOrder(await collect(store));
}

/** The content of an archive, in the same form. */
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

async function correct(
  { store, now, reverse, grant, block, desk }: OpenedProvider,
  { reversed, used }: { readonly reversed: string; readonly used: string },
): Promise<void> {
  await reverse(reversed, "paid twice");
  const support = { name: "key desk", authority: await staffOf(store).addKey("desk", "support", by(now)) };
  const limited = deskOf({ store, clock: () => now }, support, {
    limits: { ...NO_LIMITS, secondPersonReversal: 1n },
  });
  await run(limited, grantGoodwill, { ...RAM_TV, days: 1, reason: "outage" });
  await run(limited, reverseTransaction, { id: used, reason: "paid twice" });
  await run(limited, previewBulk, { action: "block", reason: "unpaid", file: listOf(["segment sd", "nobody"]) });
  await grant(RAM_TV, 10);
  await run(desk(), reverseGoodwill, { ...RAM_TV, reason: "3 were meant" });
  await block(RAM_TV, true);
  await run(desk(), addNote, { cuid: RAM_TV.cuid, note: "Ćevap „TV“" });
}

async function addTokens({ store, now, partner }: OpenedProvider): Promise<void> {
  const partners = partnersOf(store);
  const suspended = await partners.add("Ćevap & Söhne", by(now));
  await partners.setStatus(suspended.name, "suspended", by(1));
  const token = (id: string, more: Partial<AccessToken>): AccessToken => {
    const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
    return { id, partner, environment: "production", createdAt: now, ...ends, ...more };
  };
  await partners.addToken(token("tok_valid", {}), hashOf("valid"), by(1));
  await partners.addToken(
    token("tok_trial", { environment: "trial", expiresAt: now + 7 * DAY_MS }),
    hashOf("trial"),
    by(1),
  );
  await partners.addToken(token("tok_revoked", { partner: suspended }), hashOf("revoked"), by(1));
  await partners.revokeToken("tok_revoked", by(now + 5));
  await run(deskOf({ store, clock: () => now + 6 }), rotateToken, { id: "tok_valid" });
  await store.recordTokenUses(new Map([["tok_valid", now + 7]]));
  await partners.setAllowedAddresses("wallet", new AddressList(["203.0.113.0/24", "2001:db8::1"]), by(now + 8));
}

async function addWebhook({ desk }: OpenedProvider): Promise<number> {
  const input = { name: "tv", webhook: { url: "http://127.0.0.1:9/events" } };
  return (await run(desk(), addTarget, input)).target.id;
}

async function failToDeliver({ store, now }: OpenedProvider, targetId: number): Promise<void> {
  const [end, holder] = [
    { lease: "ends", holder: "a" },
    { lease: `target:${targetId}`, holder: "a" },
  ];
  for (const { lease } of [end, holder]) await outboxOf(store.engine).hold(lease, "a", now, now + 20_000);
  const failed = { attempts: 1, failedAt: now, nextAt: now + 1_000, setAside: false, problem: "status 500" };
  await outboxOf(store.engine).saveProgress({
    ...holder,
    targetId,
    place: 1,
    waiting: [{ seq: 1, ...failed }],
    done: [],
    steps: [
      {
        ...{ key: SITA_NET, seq: 1, kind: "topup.recorded", at: now, sentAt: now, acceptedAt: undefined },
        ...{ endedAt: undefined, outcome: "open", detail: "status 500" },
      },
    ],
    logged: [
      { at: now, seq: 1, attempt: 1, request: "{}", status: 500, answer: "no", problem: "status 500", durationMs: 9 },
    ],
    users: [{ username: "sita", seq: 1, at: now, alters: true, dueAt: now }],
  });
  await outboxOf(store.engine).tellTurns([], { at: now, toldUntil: moment(store, now).wall }, end);
  await tellConnections(store, targetId, now);
}

/** One connection is told, and waits for its confirmation; another one is due. */
async function tellConnections({ engine }: Store, targetId: number, now: number): Promise<void> {
  const holder = { lease: `target:${targetId}`, holder: "a" };
  const news = [SITA_NET, SITA_TV].map((key) => {
    const kind = "subscription.changed" as const;
    return { subject: connectionSubject(key), cuid: key.cuid, kind, at: now, targets: [targetId] };
  });
  await engine.transact((tx) => change(tx, news));
  const portion = { targetId, now, limit: 1, busy: new Set<string>() };
  const begun = (await dueOf(engine).begin(portion, holder)) ?? [];
  const end = { ok: true, sentAt: now, at: now, waits: true, rights: "{}" } as const;
  const ended = begun.map((due) => ({ due, end }));
  await dueOf(engine).recordAttempts({ targetId, ended, isGone: false }, holder);
}

/** Removes a connection, restores it, and resets the customer. */
async function restateAndReset(opened: OpenedProvider): Promise<void> {
  const { store, restate } = opened;
  const { internet } = SITA.connections;
  await restate({ ...SITA, last_name: "", connections: { internet } });
  await restate(SITA);
  opened.now += 1_000;
  const rows = [{ stated: statedCustomer(SITA), asOf: moment(store, opened.now) }];
  await store.importCustomers("production", rows, by(opened.now), fileRules(store, opened.now, { mode: "reset" }));
}

/** Data that staff create in the console. */
async function useConsole({ store, now, partner }: OpenedProvider): Promise<void> {
  const { engine } = store;
  const people = staffOf(store);
  const member = await people.add("माया", "admin", by(now));
  const to = { totpSecret: "BASE32", totpStep: 7, recoveryCodes: ["a"] };
  await people.change(member.name, ["staff.totp_on", to], by(now));
  const times = { createdAt: now, lastUsedAt: now };
  await openSession(engine, hashOf("session"), member.id, STORED_PASSWORD, {
    id: "ses_1",
    ...times,
    address: "::1",
    userAgent: undefined,
    authenticatedAt: undefined,
  });
  await beginLogIn(engine, { id: "failed", name: "माया", source: "203.0.113.7", at: now }, 0, () => 0);
  await people.addKey("crm", "viewer", by(now));
  const asked = { hash: hashOf("answer"), owner: "person 1", request: hashOf("request"), at: now };
  await beginAnswer(engine, asked, 1);
  const call = { at: now, partnerId: partner.id, environment: "production", operation: "top-up" } as const;
  await store.recordRefusedCalls([{ ...call, reason: "unknown_bouquet", code: undefined, requestId: "r1" }]);
  const unknown = {
    service: undefined,
    reqId: undefined,
    checkoutId: undefined,
    bouquetId: undefined,
    amount: undefined,
  };
  const lookUp = { operation: "get-customer-information", cuid: "1000001", outcome: "success", requestId: "r2" };
  await store.practise("practice", now);
  await store.shareLookUps([{ partnerId: partner.id, environment: "trial", hash: "h", at: now }], now, now);
  await store.recordTrialCalls([
    { at: now, ms: 3, partnerId: partner.id, version: "v1.0.1", ...lookUp, ...unknown, retryAfter: 2 },
  ]);
  const run = {
    kind: "customers",
    environment: "production",
    author: "माया",
    file: "a.csv",
    asOf: "2026-11-20",
  } as const;
  await endRun(engine, await beginRun(engine, run, now), { outcome: "done", report: {} }, now);
  const held = {
    environment: "production",
    cuid: "1",
    service: "tv",
    reqId: "2",
    plan: "",
    bouquetCode: "TV",
  } as const;
  const goodwill = { days: 2, at: "2026-11-01 00:00:00", lackingEnd: "2026-12-30 00:00:00" };
  const ends = { keptEnd: "2027-01-01 00:00:00", statedEnd: undefined, txnId: undefined };
  const more = { rowEnd: undefined, goodwillDays: undefined };
  const named = new Set([held.cuid]);
  await replaceHeldBack(
    engine,
    "production",
    named,
    [{ ...held, ...ends, ...more, goodwill, line: 1, sourceRow: "{}" }],
    now,
  );
  await noteCheck(engine, now);
  await noteBackup(engine, now);
}

async function publishMore({ store, now }: OpenedProvider): Promise<void> {
  const trial = bouquet("tv", "TRY", "Try (7 DAYS)", "1", { segments: ["a", "ü"] });
  await publish(store, "trial", [trial], by(now));
  await publish(store, "production", BOUQUETS.slice(0, 5), by(now));
  const stated = statedCustomer({ ...SITA, first_name: "Trial", mobile: "9800000999" });
  await store.importCustomers("trial", [{ stated, asOf: moment(store, now) }], by(now), fileRules(store, now));
}

import { describe, expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import type { LimitName } from "../../src/domain/account.ts";
import { type Mailer, MailFailed } from "../../src/domain/mail.ts";
import { listAttention } from "../../src/office/alerts/operations.ts";
import { alertWatch } from "../../src/office/alerts/watch.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import { addTarget, pauseTarget } from "../../src/office/targets/operations.ts";
import { addToBalance } from "../../src/store/accounts.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import type { RefusedCall, Store } from "../../src/store/store.ts";
import { Lease } from "../../src/workers/worker.ts";
import { deskOf, run } from "../support/desk.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { countRows, type MakeDatabase, openStore, START } from "./database.ts";

const PLAIN = { currency: undefined, numberGrouping: "western", consoleUrl: undefined } as const;
const DAY_MS = 86_400_000;
const ROOMY = { database: 4096, log: 0, free: 2 ** 40 };
const going = new AbortController().signal;
const FREE = { take: async () => true };

interface Watched {
  readonly mailer?: Mailer;
  /** Without it, every process may look at once. */
  readonly hasLease?: boolean;
}

/** A provider in Kathmandu with a feed and a partner, at 14:45 there. */
async function openAlerts(makeDatabase: MakeDatabase) {
  const opened = await openStore(makeDatabase, { timeZone: "Asia/Kathmandu" });
  const { store } = opened;
  const clock = () => opened.now;
  const desk = deskOf({ store, clock }, { name: "tester" });
  const wallet = await partnersOf(store).add("wallet", { author: "tester", authority: undefined, at: START });
  await run(desk, addTarget, { name: "crm" });
  const logged: string[] = [];
  let processes = 0;
  /** A process that looks for alerts. @returns its next round. */
  const watch = (of: Store, { mailer, hasLease = true }: Watched = {}) => {
    processes += 1;
    const lease = hasLease
      ? new Lease(outboxOf(of.engine), { clock, stopwatch: clock, holder: `p${processes}` }, "alerts")
      : FREE;
    const log = (_level: string, fields: object, message: string) =>
      void logged.push(`${message} ${JSON.stringify(fields)}`);
    const round = alertWatch({ store: { ...of, space: async () => ROOMY }, clock, mailer, words: PLAIN, lease, log });
    return () => round(going);
  };
  const events = async () =>
    (await run(desk, listEvents, { target: "crm" })).items.map(({ type, data }) => ({ type, ...data }));
  const open = async (environment: "trial" | "production" = "production") =>
    (await run(desk, listAttention, { environment })).items
      .filter(({ subject }) => subject === "wallet")
      .map(({ kind, text }) => [kind, text]);
  let refusals = 0;
  /** Records top-ups of 10.00 that a limit, or the balance, refused. */
  const refuse = async (limitName: LimitName | null, at = opened.now, count = 1) => {
    const reason = limitName === null ? "insufficient_balance" : "limit_reached";
    const row = { partnerId: wallet.id, environment: "production", reason, limitName, amount: 1_000, at } as const;
    refusals += count;
    const rows = Array.from({ length: count }, (_, index) => ({ ...row, checkoutId: `c${refusals - index}` }));
    await store.engine.transact((tx) => tx.insertInto("retiredCheckout").values(rows).execute());
  };
  return { opened, store, desk, wallet, watch, events, open, refuse, logged };
}

function refusalsOf({ id: partnerId }: Partner) {
  return (detail: string, more: Partial<RefusedCall> = {}): RefusedCall => {
    const what = { operation: "get-customer-information", reason: "rate_limited", code: "9800000101", requestId: "r" };
    return { at: START, partnerId, environment: "production", detail, ...what, ...more };
  };
}

/** A mail server in memory. */
function mailServer() {
  const server = { isDown: false, mails: [] as { readonly subject: string; readonly text: string }[], tried: 0 };
  const mailer: Mailer = {
    server: "mail:25",
    async send(mail) {
      server.tried += 1;
      if (server.isDown) throw new MailFailed("connections to it are refused (ECONNREFUSED)", "secret words");
      server.mails.push(mail);
      return [];
    },
  };
  return { server, mailer };
}

/** Alerts about partners. */
export function testAlerts(makeDatabase: MakeDatabase): void {
  test("the next day of the provider has its own alert, also for a call from before midnight that was written after", async () => {
    const scene = await openAlerts(makeDatabase);
    const { opened, store, wallet, open, events } = scene;
    const refused = refusalsOf(wallet);
    const round = scene.watch(store);
    await round();
    const midnight = Date.parse("2026-11-20T18:15:00Z");
    opened.now = midnight;
    await store.recordRefusedCalls([refused("look-ups", { at: midnight - 1 })]);
    await round();
    expect(await open()).toEqual([]);
    expect(await events()).toHaveLength(1);
    await store.recordRefusedCalls([refused("look-ups", { at: midnight })]);
    await round();
    expect(await open()).toEqual([["look_ups_refused", expect.stringContaining("Refused on this day: 1.")]]);
    expect(await events()).toHaveLength(2);
    // A new process reads the calls of today again.
    opened.now += 60_000;
    await scene.watch(store)();
    expect(await events()).toHaveLength(2);
    opened.now = midnight + 40 * DAY_MS;
    await round();
    expect(await countRows(opened, "alert WHERE subject = 'wallet'")).toBe(0);
  });
}

/** What happens at once. */
export function testAlertsAtOnce(makeDatabase: MakeDatabase): void {
  test("each limit that refuses has one alert and one event on a provider's day, however many processes look", async () => {
    const scene = await openAlerts(makeDatabase);
    const { opened, store, wallet, open, events } = scene;
    const refused = refusalsOf(wallet);
    const calls = ["look-ups", "look-ups", "calls"].map((name) => refused(name));
    await scene.refuse("day_amount", opened.now, 2);
    await scene.refuse("paid_ahead");
    await store.recordRefusedCalls([...calls, refused("look-ups", { environment: "trial" })]);
    await store.recordRefusedCalls([refused("none", { reason: "customer_not_found", detail: undefined })]);
    const others = [store, await opened.another(), await opened.another()];
    const rounds = others.map((each) => scene.watch(each, { hasLease: false }));
    await Promise.all(rounds.map((round) => round()));
    await scene.refuse("day_amount", START + 60_000);
    await Promise.all([...rounds, scene.watch(store)].map((round) => round()));
    const lookUps = (count: number) => ["look_ups_refused", expect.stringContaining(`Refused on this day: ${count}.`)];
    expect(await open()).toEqual([
      ["limit_reached", expect.stringMatching(/^The limit of the amount of a day is reached.* this day: 3, of 30.00/)],
      ["limit_reached", expect.stringMatching(/^Top-ups would have paid a connection too far.* this day: 1, of 10.00/)],
      lookUps(2),
    ]);
    expect(await open("trial")).toEqual([lookUps(1)]);
    const told = await events();
    expect(told).toHaveLength(4);
    expect(told).toEqual(
      expect.arrayContaining([
        { type: "look_ups.refused", environment: "production", partner: "wallet" },
        { type: "look_ups.refused", environment: "trial", partner: "wallet" },
        { type: "limit.reached", environment: "production", partner: "wallet", limit: "day_amount" },
        { type: "limit.reached", environment: "production", partner: "wallet", limit: "paid_ahead" },
      ]),
    );
  });

  describe("a balance below its bound", () => {
    /** With a bound of 1,000.00, and 500.00 on the account. */
    async function openLow() {
      const scene = await openAlerts(makeDatabase);
      const { opened, store, wallet } = scene;
      const key = { partnerId: wallet.id, environment: "production" } as const;
      const { zone } = store.provider;
      const settle = (settings: { alertBelow?: bigint; creditLimit?: bigint }) => setAccount(store, key, settings);
      let entries = 0;
      const deposit = (amount: number) =>
        store.engine.transact(async (tx) => {
          entries += 1;
          const by = { reference: `D${entries}`, reason: "r", author: "tester", at: opened.now };
          const kind = amount > 0 ? "deposit" : "withdrawal";
          await tx
            .insertInto("accountEntry")
            .values({ ...key, ...by, kind, amount, wall: zone.wallTime(opened.now) })
            .execute();
          await addToBalance(tx, key, BigInt(amount));
        });
      await deposit(50_000);
      await settle({ alertBelow: 100_000n });
      return { ...scene, settle, deposit };
    }

    test("has one alert for each crossing, however many processes look, and ends", async () => {
      const { opened, store, watch, events, open, deposit } = await openLow();
      const others = [store, await opened.another(), await opened.another()];
      const rounds = others.map((each) => watch(each, { hasLease: false }));
      const look = async () => {
        opened.now += 30_000;
        for (let time = 0; time < 2; time += 1) await Promise.all(rounds.map((round) => round()));
        return (await open()).map(([kind]) => kind);
      };
      expect(await look()).toEqual(["account_low"]);
      const low = { type: "account.low", environment: "production", partner: "wallet" };
      expect(await events()).toEqual([{ ...low, balance: "500.00", below: "1000.00" }]);
      await deposit(49_999);
      expect(await look()).toEqual(["account_low"]);
      await deposit(1);
      expect(await look()).toEqual([]);
      expect(await events()).toHaveLength(1);
      await deposit(-1);
      expect(await look()).toEqual(["account_low"]);
      expect((await events()).slice(1)).toEqual([{ ...low, balance: "999.99", below: "1000.00" }]);
    });

    test("ends with its bound, and is read of an account with a credit limit too", async () => {
      const { opened, store, watch, events, open, settle } = await openLow();
      const round = watch(store);
      await settle({ alertBelow: 50_001n, creditLimit: 0n });
      await round();
      expect(await open()).toHaveLength(1);
      await settle({});
      opened.now += 30_000;
      await round();
      expect(await open()).toEqual([]);
      await settle({ alertBelow: 50_000n });
      await round();
      expect(await events()).toHaveLength(1);
    });
  });

  describe("mails", () => {
    test("are sent once, by one process, without a customer's data", async () => {
      const scene = await openAlerts(makeDatabase);
      const { opened, store, wallet } = scene;
      const { server, mailer } = mailServer();
      const refused = refusalsOf(wallet);
      await scene.refuse("day_top_ups");
      await store.recordRefusedCalls([refused("look-ups", { environment: "trial" })]);
      const rounds = [store, await opened.another()].map((each) => scene.watch(each, { mailer }));
      for (let time = 0; time < 3; time += 1) await Promise.all(rounds.map((round) => round()));
      expect(server.mails.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))).toEqual([
        {
          subject: "topupd: wallet (trial): look-ups refused",
          text: expect.stringContaining("Partner: wallet (trial)\nTime: 2026-11-20 14:45:00 (Asia/Kathmandu)\n"),
        },
        {
          subject: "topupd: wallet: limit reached",
          text: "Partner: wallet\nTime: 2026-11-20 14:45:00 (Asia/Kathmandu)\n\nThe limit of top-ups of a day is reached. Further top-ups are refused until midnight. Refused on this day: 1, of 10.00.\n",
        },
      ]);
      expect(JSON.stringify(server.mails)).not.toContain("9800000101");
      // A later process without the lease, or with it, sends none again.
      opened.now += 60_000;
      await rounds[1]?.();
      expect(server.tried).toBe(2);
    });

    test("wait for a mail server that is down, for a day, and stop nothing else", async () => {
      const scene = await openAlerts(makeDatabase);
      const { opened, store, wallet, events, logged } = scene;
      const { server, mailer } = mailServer();
      const refused = refusalsOf(wallet);
      const round = scene.watch(store, { mailer });
      server.isDown = true;
      const mails = () => server.mails.filter(({ subject }) => subject.includes("wallet"));
      await scene.refuse("day_amount");
      await store.recordRefusedCalls([refused("look-ups")]);
      await round();
      await round();
      expect(await events()).toHaveLength(2);
      expect([server.tried, server.mails]).toEqual([2, []]);
      const cause = JSON.stringify({ cause: "connections to it are refused (ECONNREFUSED)" });
      expect(logged).toEqual([`mails about alerts are late: run topupd check mail ${cause}`]);
      opened.now += DAY_MS - 1;
      server.isDown = false;
      await round();
      // Their day is over: one mail says both that they began and that they ended.
      expect(mails().map(({ subject }) => subject)).toEqual([
        "topupd: ended: wallet: limit reached",
        "topupd: ended: wallet: look-ups refused",
      ]);
      server.isDown = true;
      await scene.refuse("day_amount");
      await round();
      server.isDown = false;
      opened.now += 2 * DAY_MS;
      await round();
      expect(mails()).toHaveLength(2);
    });

    test("tell when a problem begins and when it ends, with the figures of a day", async () => {
      const scene = await openAlerts(makeDatabase);
      const { opened, store, desk } = scene;
      const { server, mailer } = mailServer();
      const round = scene.watch(store, { mailer });
      const sent = async () => {
        opened.now += 30_000;
        await round();
        return server.mails.splice(0).map(({ subject, text }) => [subject, text.split("\n").at(-2)]);
      };
      const pause = (paused: boolean) => run(desk, pauseTarget, { name: "crm", paused });
      expect(await sent()).toEqual([]);
      await pause(true);
      const paused = "topupd: crm: target is paused";
      expect(await sent()).toEqual([[paused, "It gets no events until it is resumed. It lacks 0."]]);
      expect(await sent()).toEqual([]);
      await pause(false);
      const at = "2026-11-20 14:47:00 (Asia/Kathmandu)";
      expect(await sent()).toEqual([["topupd: ended: crm: target is paused", `Ended: ${at}`]]);
      await scene.refuse(null, opened.now, 2);
      const refused = "Top-ups that were refused on this day as the balance was too low: ";
      expect(await sent()).toEqual([["topupd: wallet: balance too low for top-ups", `${refused}2, of 20.00.`]]);
      await scene.refuse(null, opened.now, 437);
      expect(await sent()).toEqual([]);
      opened.now += 12 * 3_600_000;
      expect(await sent()).toEqual([
        ["topupd: ended: wallet: balance too low for top-ups", `${refused}439, of 4,390.00.`],
      ]);
      expect(await sent()).toEqual([]);
    });
  });
}

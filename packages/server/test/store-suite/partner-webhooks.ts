import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import type { AccountKey } from "../../src/domain/account.ts";
import { type PartnersFact, readSubject } from "../../src/domain/subject.ts";
import { enterIntoAccount } from "../../src/office/accounts/operations.ts";
import { readProblems } from "../../src/office/alerts/problems.ts";
import { raiseAlert } from "../../src/office/alerts/sql.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { testTarget } from "../../src/office/targets/deliveries.ts";
import { listFailedDeliveries, listTargets, resendToTarget } from "../../src/office/targets/operations.ts";
import { setWebhook, showWebhook } from "../../src/office/targets/webhook.ts";
import { Means } from "../../src/partner/extension/account.ts";
import { OwnEntry } from "../../src/partner/extension/entries.ts";
import { type FactMessage, factMessages, SHOWN } from "../../src/partner/extension/facts.ts";
import { OwnTopUpItem } from "../../src/partner/extension/top-ups.ts";
import { findWebhook } from "../../src/store/delivery-log.ts";
import { dueOf, FACTS_KEPT_MS } from "../../src/store/due.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { startDeliveringDue } from "../../src/workers/deliver-due.ts";
import { by } from "../support/by.ts";
import { closed, OWN_NETWORKS, refusal, run } from "../support/desk.ts";
import { brokenPromises } from "../support/facts.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { answerWith, type Delivery, startReceiver } from "../targets/receivers.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { expectRecorded, HARI_TV, openProvider, RAM, RAM_NET, RAM_TV, SITA, SITA_NET, SITA_TV } from "./provider.ts";

const NOWHERE = "http://127.0.0.1:9/";
const CONNECTIONS = [SITA_NET, SITA_TV, RAM_NET, RAM_TV];
const CODES = { internet: "NET-1M", tv: "TV-1M", iptv: "" };

/** Two partners with webhooks. */
async function openWithTwo(makeDatabase: MakeDatabase, urls: readonly [string, string] = [NOWHERE, NOWHERE]) {
  const opened = await openProvider(makeDatabase);
  const partners = [opened.partner, await partnersOf(opened.store).add("Rival Bank", by(opened.now))];
  const keys = partners.map(({ id }): AccountKey => ({ partnerId: id, environment: "production" }));
  const secrets: string[] = [];
  for (const [index, { name }] of partners.entries())
    secrets.push((await run(opened.desk(), setWebhook, { name, url: urls[index] ?? NOWHERE })).secret ?? "");
  const random = seededRandom(52);
  const below = (most: number) => (random(2)[0] ?? 0) % most;
  const topUp = async (of: number, connection = CONNECTIONS[below(CONNECTIONS.length)] ?? SITA_NET) => {
    const partnerId = partners[of]?.id ?? 0;
    const { checkoutId, checkout } = opened.quote(connection, { partnerId });
    const of1 = { partnerId, checkoutId, checkout, udf1: `order of ${partners[of]?.name}` };
    return expectRecorded(await opened.store.settleTopUp(opened.command(connection, CODES[connection.service], of1)));
  };
  const enter = (of: number, reference: string) => {
    const input = { name: partners[of]?.name ?? "", kind: "deposit", amount: "50", reference } as const;
    return run({ ...opened.desk(), actor: { name: "Maya" } }, enterIntoAccount, { ...input, reason: "paid in cash" });
  };
  const dueOfPartner = async (of: number) => {
    const { db } = opened.store.engine;
    const { id = 0 } = (await findWebhook(db, keys[of] as AccountKey)) ?? {};
    return db.selectFrom("due").selectAll().where("targetId", "=", id).orderBy("subject").execute();
  };
  const factsOf = async (of: number, shown?: typeof SHOWN) => {
    const key = keys[of] as AccountKey;
    const facts = (await dueOfPartner(of)).map(({ subject }) => readSubject(subject) as PartnersFact);
    const messages = await factMessages(opened.store, key, facts, opened.now, shown);
    return { facts, messages: messages.filter((message) => message !== undefined) };
  };
  return { opened, partners, keys, secrets, below, topUp, enter, dueOfPartner, factsOf };
}

type Two = Awaited<ReturnType<typeof openWithTwo>>;

/** Everything that happens to accounts and customers, in a random order. */
async function live({ opened, partners, keys, below, topUp, enter }: Two, steps: number) {
  const made: string[][] = [[], []];
  for (let step = 0; step < steps; step += 1) {
    opened.now += 1_000;
    const of = below(2);
    const own = made[of] ?? [];
    const act = below(8);
    if (act < 4 || own.length === 0) own.push((await topUp(of)).checkoutId);
    else if (act === 4) await opened.reverse(own.splice(below(own.length), 1)[0] ?? "");
    else if (act === 5) await enter(of, `${partners[of]?.name} ${step}.1`);
    else if (act === 6) {
      const event = { kind: "account.low", ...(keys[of] as AccountKey), below: 1_000n } as const;
      const low = { kind: "account_low", environment: "production", subject: `${step}`, amount: -5n, event } as const;
      await raiseAlert(opened.store.engine, low, opened.now);
    } else await opened.block(HARI_TV, step % 2 === 0);
  }
  await opened.restate({ ...SITA, connections: {} }, RAM);
}

/** The fields of each type of fact: those of the reports. */
const FIELDS: Readonly<Record<string, TSchema>> = {
  "topup.recorded": OwnTopUpItem,
  "topup.reversed": OwnTopUpItem,
  "account.entry": Type.Object({ ...OwnEntry.properties, number: Type.Integer() }),
  "account.low": Type.Object({ ...Means.properties, number: Type.Integer() }),
};

/** Texts and names of fields in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, part]) => [name, ...textsIn(part)]);
}

/** What a message shows that it must not: fields of no report, and texts of customers, staff or the other partner. */
function leaksOf({ type, data }: FactMessage, foreign: ReadonlySet<string>, { name }: { readonly name: string }) {
  const fields = Value.Errors(closed(FIELDS[type] as TSchema), data).map(({ message }) => message);
  const people = [SITA, RAM].flatMap(({ first_name, last_name, mobile }) => [first_name, last_name, mobile]);
  const hidden = [...people, "Maya", "paid in cash", name];
  const texts = textsIn(data).filter((text) => foreign.has(text) || hidden.some((each) => text.includes(each)));
  return [...fields, ...texts];
}

/** Builders of bodies with a mistake each. */
const MUTANTS: Readonly<Record<string, Partial<typeof SHOWN>>> = {
  "the customer's name": {
    topUp: (of, exponent) => ({ ...SHOWN.topUp(of, exponent), udf2: `for ${SITA.first_name}` }),
  },
  "a mobile number, deep inside": {
    topUp: (of, exponent) => Object.assign(SHOWN.topUp(of, exponent), { customer: { phones: [RAM.mobile] } }),
  },
  "a field of no report": { topUp: (of, exponent) => Object.assign(SHOWN.topUp(of, exponent), { at: 1 }) },
  "the member of staff": {
    entry: (of, balance, exponent) => ({
      ...SHOWN.entry(of, balance, exponent),
      reference: "author" in of ? of.author : null,
    }),
  },
  "the reason of staff": {
    entry: (of, balance, exponent) =>
      Object.assign(SHOWN.entry(of, balance, exponent), { reason: "reason" in of ? of.reason : "" }),
  },
  "the other partner": {
    entry: (of, balance, exponent) => ({ ...SHOWN.entry(of, balance, exponent), txnId: "Rival Bank" }),
  },
  "the bound of the alert": {
    means: (balance, limit, exponent) => Object.assign(SHOWN.means(balance, limit, exponent), { alertBelow: 10 }),
  },
};

/** Partners are told of their facts by webhooks. */
export function testPartnerWebhooks(makeDatabase: MakeDatabase): void {
  test("over all facts, no message has another partner's or a customer's data, and mutants are found", async () => {
    const two = await openWithTwo(makeDatabase);
    await live(two, 60);
    const { opened, partners, factsOf } = two;
    const all = [await factsOf(0), await factsOf(1)];
    const ids = all.map(({ messages }) => messages.map(({ id }) => id));
    const foreign = (of: number) => {
      const { messages = [] } = all[1 - of] ?? {};
      const naming = messages.map(({ data }) => data as Partial<Record<string, string>>);
      const texts = naming.flatMap(({ txnId, orderId, reference, udf1 }) => [txnId, orderId, reference, udf1]);
      return new Set(texts.filter((text) => typeof text === "string"));
    };
    const leaks = ({ messages }: { readonly messages: readonly FactMessage[] }, of: number) =>
      messages.flatMap((message) => leaksOf(message, foreign(of), partners[1 - of] ?? opened.partner));
    for (const [of, facts] of all.entries()) {
      expect(new Set(facts.messages.map(({ type }) => type))).toEqual(new Set(Object.keys(FIELDS)));
      expect(leaks(facts, of)).toEqual([]);
      expect(new Set(ids[of]).size).toBe(facts.messages.length);
      for (const id of ids[of] ?? [])
        expect(id).toMatch(/^(?:(?:recorded|reversed)_[0-9A-Z]{26}|(?:trial_)?(?:entry_[\w%]+|low_\d+))$/);
      // Nobody can be shown another's facts, even if the wrong subjects were read.
      const other = two.keys[1 - of] as AccountKey;
      const theirs = facts.facts.filter(({ kind }) => kind !== "low");
      expect(new Set(await factMessages(opened.store, other, theirs, 1))).toEqual(new Set([undefined]));
    }
    for (const [mutant, shown] of Object.entries(MUTANTS))
      expect(leaks(await factsOf(0, { ...SHOWN, ...shown }), 0), mutant).not.toEqual([]);
    // No target of the provider's is told of them.
    expect(await countRows(opened, "event")).toBe(0);
  });

  test("bodies are those of the reports; a later reversal leaves the first fact as it was", async () => {
    const { opened, topUp, enter, factsOf } = await openWithTwo(makeDatabase);
    const { txnId, checkoutId, txnDate } = await topUp(0, SITA_NET);
    await opened.reverse(checkoutId);
    await enter(0, "bank 4711.a");
    const sold = {
      ...{ txnId, orderId: checkoutId, cuid: SITA_NET.cuid, service: "internet", reqId: "sita", bouquetId: "NET-1M" },
      ...{ amt: 1130, commission: 0, txnDate, udf1: "order of wallet", udf2: null },
    };
    const timestamp = new Date(opened.now).toISOString();
    expect((await factsOf(0)).messages).toEqual([
      {
        ...{ id: "entry_bank%204711%2Ea", type: "account.entry", timestamp },
        data: {
          ...{ at: txnDate, kind: "deposit", amount: 50, balance: 50, reference: "bank 4711.a" },
          ...{ txnId: null, orderId: null, gross: null, commission: null, number: opened.now },
        },
      },
      {
        ...{ id: `reversed_${txnId}`, type: "topup.reversed", timestamp },
        data: { ...sold, status: "reversed", reversedAt: txnDate },
      },
      {
        ...{ id: `recorded_${txnId}`, type: "topup.recorded", timestamp },
        data: { ...sold, status: "success", reversedAt: null },
      },
    ]);
    // The balance is that of the time of sending.
    await enter(0, "bank 4712");
    const [first] = (await factsOf(0)).messages;
    expect(first).toMatchObject({ id: "entry_bank%204711%2Ea", data: { balance: 100 } });
    expect((await factsOf(1)).messages).toEqual([]);
  });

  test("a webhook is set, moved, rotated and removed on record, and is none of the provider's targets", async () => {
    const { opened, secrets } = await openWithTwo(makeDatabase);
    const desk = opened.desk();
    const [name, target] = ["wallet", "partner wallet production"];
    expect(secrets[0]).toMatch(/^whsec_[\w+/]{43}=$/);
    expect((await run(desk, setWebhook, { name, url: NOWHERE })).secret).toBeNull();
    const moved = await run(desk, setWebhook, { name, url: "http://127.0.0.1:9/b?key=hush" });
    expect([moved.secret, moved.webhook]).toMatchObject([null, { name: target, address: "http://127.0.0.1:9/b" }]);
    const trial = await run(desk, setWebhook, { name, environment: "trial", url: NOWHERE });
    expect(trial.webhook?.name).toBe("partner wallet trial");
    const rotated = await run(desk, setWebhook, { name, rotate: true });
    expect(rotated.secret).not.toBe(secrets[0]);
    expect((await run(desk, listTargets, {})).items).toEqual([]);
    expect((await run(desk, setWebhook, { name, remove: true })).webhook).toBeNull();
    expect(await run(desk, showWebhook, { name })).toEqual({ webhook: null, deliveries: [] });
    expect((await run(desk, showWebhook, { name, environment: "trial" })).webhook).not.toBeNull();
    const both = await refusal(run(desk, setWebhook, { name, url: NOWHERE, remove: true }));
    expect(both).toMatchObject({ code: "conflict" });
    expect((await refusal(run(desk, setWebhook, { name, rotate: true }))).code).toBe("not_found");
    const close = await refusal(run(desk, setWebhook, { name, url: "http://192.168.1.1/" }));
    expect(close.problems).toMatchObject([{ field: "url" }]);
    const trail = await listEntries(opened.store.engine.db, {}, 10);
    expect(trail.map(({ action, subject }) => `${action} ${subject}`).slice(0, 4)).toEqual([
      `target.remove ${target}`,
      `target.rotate ${target}`,
      "target.add partner wallet trial",
      "partner.webhook wallet",
    ]);
    expect(JSON.stringify(trail)).not.toMatch(/whsec_|hush/);
  });

  test("deliveries show type, status and reason but no answer; a paused webhook is a problem", async () => {
    const receiver = await startReceiver((response) => response.writeHead(410).end("inner secret"));
    const { opened, topUp, secrets } = await openWithTwo(makeDatabase, [receiver.url, NOWHERE]);
    const desk = opened.desk();
    opened.now = Date.now();
    const tools = targetTools({ clock: desk.clock, random: desk.random }, OWN_NETWORKS);
    const name = "partner wallet production";
    const { txnId } = await topUp(0);
    const outcome = { status: 410, problem: "status 410", answer: null };
    expect(await run(desk, testTarget, { name })).toMatchObject(outcome);
    const [{ body, headers }] = receiver.deliveries as [Delivery];
    const signed = new Webhook(secrets[0] ?? "").verify(body, headers as Record<string, string>);
    expect(signed).toMatchObject({ id: headers["webhook-id"], type: "test", data: {} });
    const worker = startDeliveringDue({
      store: { outbox: outboxOf(opened.store.engine), due: dueOf(opened.store.engine) },
      ...{ clock: desk.clock, stopwatch: desk.clock, random: desk.random, holder: "p" },
      sleep: (ms, signal) => pause(ms > 5_000 ? ms : 5, undefined, { signal }).catch(() => {}),
      createTeller: (target) => tools.createTeller(target, opened.store),
      log: () => {},
    });
    const webhook = () => run(desk, showWebhook, { name: "wallet" });
    const state = async () => {
      opened.now += 200;
      return (await webhook()).webhook?.state;
    };
    await expect.poll(state, { timeout: 10_000 }).toBe("gone");
    await worker.stop();
    const { deliveries } = await webhook();
    expect(deliveries[0]).toMatchObject({ id: `recorded_${txnId}`, type: "topup.recorded", attempt: 1, status: 410 });
    expect(deliveries.at(-1)).toMatchObject({ id: expect.stringMatching(/^test_/), type: "test" });
    expect(await opened.database.read("SELECT 1 FROM delivery_log WHERE answer IS NOT NULL")).toEqual([]);
    const problems = (await readProblems(desk)).filter(({ subject }) => subject === name);
    expect(problems.map(({ kind }) => kind)).toEqual(["target_paused"]);
    const moved = await run(desk, setWebhook, { name: "wallet", url: NOWHERE });
    expect(moved.webhook?.state).toBe("failing");
  });

  test("a fact is sent again to its partner, and to no other", async () => {
    const { opened, partners, topUp, enter, dueOfPartner } = await openWithTwo(makeDatabase);
    const [own, other] = [await topUp(0), await topUp(1)];
    await enter(0, "bank 4711.a");
    await opened.store.engine.db.deleteFrom("due").execute();
    const name = `partner ${partners[0]?.name} production`;
    const resend = async (event: string) => run(opened.desk(), resendToTarget, { name, event });
    for (const id of [`recorded_${other.txnId}`, `reversed_${own.txnId}`, "entry_bank", "entry_%", "evt_1_1", "low_x"])
      expect((await refusal(resend(id))).code, id).toBe("not_found");
    for (const id of [`recorded_${own.txnId}`, "entry_bank%204711%2Ea"])
      expect(await resend(id)).toEqual({ resent: 1 });
    expect(await dueOfPartner(0)).toMatchObject([
      { subject: `fact entry ${partners[0]?.id} production bank 4711.a`, kind: "account.entry", changes: 1 },
      { subject: `fact topup ${partners[0]?.id} production ${own.txnId}`, kind: "topup.recorded", changes: 1 },
    ]);
    expect(await dueOfPartner(1)).toEqual([]);
  });

  test("what a webhook did not take is listed, and retried at once if staff send it again", async () => {
    const { opened, partners, topUp, dueOfPartner } = await openWithTwo(makeDatabase);
    const [{ txnId }] = [await topUp(0), await topUp(0)];
    const { engine } = opened.store;
    const [, row] = await dueOfPartner(0);
    const aside = { state: "aside", attempts: 78, problem: "status 400", nextAt: opened.now + 3_600_000 } as const;
    await engine.db
      .updateTable("due")
      .set(aside)
      .where("subject", "=", row?.subject ?? "")
      .execute();
    const name = `partner ${partners[0]?.name} production`;
    const failed = { kind: "topup.recorded", attempts: 78, setAside: true, problem: "status 400", partner: "wallet" };
    expect(txnId < (row?.subject ?? "").slice(-txnId.length)).toBe(true);
    const { items } = await run(opened.desk(), listFailedDeliveries, { name });
    expect(items).toMatchObject([{ ...failed, id: `recorded_${row?.subject.slice(-txnId.length)}` }]);
    expect((await run(opened.desk(), showWebhook, { name: "wallet" })).webhook).toMatchObject({
      behind: 2,
      setAside: 1,
    });
    expect(await run(opened.desk(), resendToTarget, { name })).toEqual({ resent: 1 });
    expect(await dueOfPartner(0)).toMatchObject(Array(2).fill({ state: "open", attempts: 0, nextAt: opened.now }));
  });

  test("a refusal by a limit is an event of the provider, and no fact of the partner's webhook", async () => {
    const { opened, keys } = await openWithTwo(makeDatabase);
    const event = { kind: "limit.reached", partnerId: keys[0]?.partnerId ?? 0 } as const;
    const problem = { kind: "limit_reached", environment: "production", subject: "wallet", event } as const;
    await raiseAlert(opened.store.engine, problem, opened.now);
    expect([await countRows(opened, "alert"), await countRows(opened, "due")]).toEqual([1, 0]);
  });

  test("facts that a webhook does not take are dropped after 30 days, and all of a removed webhook", async () => {
    const { opened, topUp, dueOfPartner } = await openWithTwo(makeDatabase);
    await topUp(0);
    opened.now += 1;
    await topUp(0);
    await topUp(1);
    const due = dueOf(opened.store.engine);
    expect(await due.forget(opened.now + FACTS_KEPT_MS - 1)).toBe(0);
    expect(await due.forget(opened.now + FACTS_KEPT_MS)).toBe(1);
    expect([(await dueOfPartner(0)).length, (await dueOfPartner(1)).length]).toEqual([1, 1]);
    await run(opened.desk(), setWebhook, { name: "wallet", remove: true });
    expect(await due.forget(opened.now)).toBe(1);
    expect([await countRows(opened, "due"), (await dueOfPartner(1)).length]).toEqual([1, 1]);
  });
}

/** The ids of all facts of a partner, by what they are about. */
async function factsOnRecord({ opened, keys }: Two, of: number): Promise<Set<string>> {
  const { db } = opened.store.engine;
  const partnerId = keys[of]?.partnerId ?? 0;
  const topUps = await db.selectFrom("topUp").select("txnId").where("partnerId", "=", partnerId).execute();
  const reversals = await db.selectFrom("reversal").select("txnId").where("partnerId", "=", partnerId).execute();
  const entries = await db.selectFrom("accountEntry").select("reference").where("partnerId", "=", partnerId).execute();
  return new Set([
    ...topUps.map(({ txnId }) => `recorded_${txnId}`),
    ...reversals.map(({ txnId }) => `reversed_${txnId}`),
    ...entries.map(({ reference }) => `entry_${reference}`),
  ]);
}

/** What happens at once. */
export function testPartnerWebhooksAtOnce(makeDatabase: MakeDatabase): void {
  test("every fact arrives, and none of another partner, however often the process is killed", async () => {
    const failing = seededRandom(8);
    /** Whether each request was accepted. */
    const isTaken: boolean[] = [];
    const flaky = await startReceiver((response) => {
      isTaken.push((failing(1)[0] ?? 0) >= 40);
      answerWith(isTaken.at(-1) === true ? 204 : 500)(response);
    });
    const receivers = [flaky, await startReceiver()] as const;
    const two = await openWithTwo(makeDatabase, [receivers[0].url, receivers[1].url]);
    const { opened, below, topUp, enter } = two;
    let [aheadMs, killed] = [0, 0];
    const clock = () => Date.now() + aheadMs;
    const { engine } = opened.store;
    /** After the kill, nothing that the process does has an effect. */
    const start = (holder: string) => {
      let isDead = false;
      const never = new Promise<never>(() => {});
      const mortal = <Of extends object>(of: Of): Of =>
        new Proxy(of, {
          get:
            (all, name) =>
            async (...given: never[]) => {
              const result = isDead ? never : await (all[name as keyof Of] as (...all: never[]) => unknown)(...given);
              return isDead ? never : result;
            },
        });
      const random = seededRandom(3);
      const tools = targetTools({ clock, random }, OWN_NETWORKS);
      const worker = startDeliveringDue({
        store: { outbox: mortal(outboxOf(engine)), due: mortal(dueOf(engine)) },
        ...{ clock, random, holder, log: () => {} },
        stopwatch: clock,
        sleep: async (ms, signal) => {
          await pause(ms > 5_000 ? ms : 2, undefined, { signal }).catch(() => {});
          if (isDead) await never;
        },
        createTeller: (target) => tools.createTeller(target, opened.store),
      });
      return {
        stop: worker.stop,
        kill: () => {
          isDead = true;
        },
      };
    };
    let process = start("p0");
    const restart = () => {
      process.kill();
      killed += 1;
      // Its lease ends, and another process continues.
      aheadMs += 20_001;
      process = start(`p${killed}`);
    };
    const sell = async (of: number) => {
      const own: string[] = [];
      for (let step = 0; step < 100; step += 1) {
        if (of === 0 && step % 16 === 15) restart();
        if (step % 4 === 3) await opened.reverse(own.splice(below(own.length), 1)[0] ?? "");
        else if (step % 9 === 8) await enter(of, `R${step}`);
        else own.push((await topUp(of)).checkoutId);
      }
    };
    await Promise.all([sell(0), sell(1)]);
    const wanted = await Promise.all([0, 1].map((of) => factsOnRecord(two, of)));
    const idsAt = (of: number) => (receivers[of]?.deliveries ?? []).map(({ headers }) => String(headers["webhook-id"]));
    // Failed facts are retried after seconds.
    await expect
      .poll(
        async () => {
          aheadMs += 1_000;
          return [await countRows(opened, "due"), ...[0, 1].map((of) => new Set(idsAt(of)).size)];
        },
        { timeout: 20_000, interval: 20 },
      )
      .toEqual([0, ...wanted.map(({ size }) => size)]);
    await process.stop();
    for (const of of [0, 1]) {
      const arrived = idsAt(of).map((id, index) => ({ id, isTaken: of === 1 || isTaken[index] === true }));
      expect(brokenPromises(arrived, wanted[of] ?? new Set())).toEqual([]);
    }
  });
}

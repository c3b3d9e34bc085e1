import { describe, expect, test } from "vitest";
import { eventId } from "../../src/domain/event.ts";
import { SETTLED_AFTER_MS } from "../../src/domain/ledger-import.ts";
import type { TargetConfig, WaitingDelivery } from "../../src/domain/target.ts";
import { reverseTransaction } from "../../src/office/corrections/operations.ts";
import {
  addTarget,
  listFailed,
  openFeed,
  readEvents,
  resendToTarget,
  rotateTargetSecret,
  setTargetPaused,
  showTarget,
} from "../../src/services/staff/targets.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { run } from "../support/desk.ts";
import { ACTOR, customer, DAY_MS, MINUTE_MS, openWorld, type World } from "./world.ts";

const WEBHOOK = { kind: "webhook", url: "http://127.0.0.1:9/hook", allowPrivate: true } as const;
const FEED = { kind: "feed" } as const;
const HOUR_MS = 60 * MINUTE_MS;

async function withCustomers(): Promise<World> {
  const world = await openWorld();
  await world.importCustomers(["1", "2"].map((cuid) => customer(cuid, { end: "2026-12-10 10:00:00" })));
  return world;
}

function portsOf({ ports }: World) {
  return { ...ports, targets: targetTools(ports) };
}

async function add(world: World, name: string, config: TargetConfig, books = false) {
  const added = await addTarget(portsOf(world), ACTOR, { name, config, books });
  if (added.kind !== "added") throw new Error(added.kind);
  return added;
}

/** Writes down how far a target is, as whoever delivers to it does. */
async function deliver(
  { store, now }: World,
  targetId: number,
  place: number,
  waiting: readonly WaitingDelivery[] = [],
) {
  const held = { lease: `target:${targetId}`, holder: "test" };
  await store.outbox.hold(held.lease, held.holder, now, now + 20_000);
  expect(await store.outbox.saveProgress({ ...held, targetId, place, waiting, done: [] })).toBe(true);
}

function failing(seq: number, now: number, setAside = false): WaitingDelivery {
  return { seq, attempts: 3, failedAt: now, nextAt: now + 30_000, setAside, problem: "status 500" };
}

async function eventsAfter({ ports }: World, after: number) {
  const events = [];
  for await (const page of readEvents(ports, { after })) events.push(...page);
  return events;
}

describe("a target is added", () => {
  test("with a secret where it is a webhook, and none where it is not", async () => {
    const world = await withCustomers();
    const { target, secret } = await add(world, "tv", WEBHOOK);
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(target.secrets).toEqual([{ secret, until: undefined }]);
    expect(await add(world, "crm", FEED)).toMatchObject({ secret: undefined, target: { secrets: [] } });
  });

  test("only by a name that shells and metrics take, that is free, and at an address that may be called", async () => {
    const world = await withCustomers();
    const ports = portsOf(world);
    const attempt = (name: string, config: TargetConfig) => addTarget(ports, ACTOR, { name, config, books: false });
    for (const name of ["", "-tv", ".", "a b", "a/b", "tv\n", "x".repeat(65)])
      expect(await attempt(name, FEED)).toEqual({ kind: "bad_name" });
    expect(await attempt("x".repeat(64), FEED)).toMatchObject({ kind: "added" });
    expect(await attempt("x".repeat(64), FEED)).toEqual({ kind: "name_taken" });
    const problem = expect.stringContaining("leads to a private address");
    expect(await attempt("tv", { ...WEBHOOK, allowPrivate: false })).toEqual({ kind: "bad_url", problem });
    expect(await world.store.targets.list()).toHaveLength(1);
  });
});

describe("up to when billing has every top-up", () => {
  const untilOf = async ({ ports }: World, name = "billing") => (await showTarget(ports, { name }))?.acknowledgedUntil;

  test("is a minute ago where it has all, and nothing is said of what was before it was added", async () => {
    const world = await withCustomers();
    const { target } = await add(world, "billing", WEBHOOK, true);
    world.now = target.createdAt + SETTLED_AFTER_MS - 1;
    expect(await untilOf(world)).toBeUndefined();
    world.now += 1;
    expect(await untilOf(world)).toBe(target.createdAt);
    world.now += DAY_MS;
    expect(await untilOf(world)).toBe(world.now - SETTLED_AFTER_MS);
  });

  test("is more than a batch before the oldest event that it lacks, whether it is behind, failing or set aside", async () => {
    const world = await withCustomers();
    const { target } = await add(world, "billing", WEBHOOK, true);
    world.now += HOUR_MS;
    const before = await world.store.outbox.lastEvent();
    const first = await world.topUp("1");
    world.now += HOUR_MS;
    await world.topUp("2");
    world.now += HOUR_MS;
    const lacking = first.at - 31_000;
    expect(await untilOf(world)).toBe(lacking);
    const last = await world.store.outbox.lastEvent();
    await deliver(world, target.id, last, [failing(before + 1, world.now)]);
    expect(await untilOf(world)).toBe(lacking);
    await deliver(world, target.id, last, [failing(before + 1, world.now, true)]);
    expect(await untilOf(world)).toBe(lacking);
  });

  test("is never later than a minute ago, however young what it lacks is", async () => {
    const world = await withCustomers();
    await add(world, "billing", FEED, true);
    world.now += HOUR_MS;
    await world.topUp("1");
    expect(await untilOf(world)).toBe(world.now - SETTLED_AFTER_MS);
    world.now += 10_000;
    expect(await untilOf(world)).toBe(world.now - SETTLED_AFTER_MS);
  });

  test("waits for a reversal too", async () => {
    const world = await withCustomers();
    const { txnId } = await world.topUp("1");
    await add(world, "billing", WEBHOOK, true);
    world.now += HOUR_MS;
    await run(world.desk, reverseTransaction, { id: txnId, reason: "charged back" });
    const reversedAt = world.now;
    world.now += HOUR_MS;
    expect(await untilOf(world)).toBe(reversedAt - 31_000);
  });

  test("is not said of what is not billing, for later events stand for earlier ones there", async () => {
    const world = await withCustomers();
    await add(world, "tv", WEBHOOK);
    world.now += DAY_MS;
    expect(await untilOf(world, "tv")).toBeUndefined();
    expect(await showTarget(world.ports, { name: "other" })).toBeUndefined();
  });
});

describe("a new secret", () => {
  test("ends no other before the time promised for it", async () => {
    const world = await withCustomers();
    const first = (await add(world, "tv", WEBHOOK)).secret;
    const rotate = () => rotateTargetSecret(portsOf(world), ACTOR, { name: "tv" });
    const promised: { secret: string | undefined; until: number | undefined }[] = [{ secret: first, until: undefined }];
    for (let times = 0; times < 4; times += 1) {
      world.now += MINUTE_MS;
      const rotated = await rotate();
      if (rotated.kind !== "rotated") throw new Error(rotated.kind);
      const { target, secret, formerUntil } = rotated;
      expect(formerUntil).toBe(world.now + DAY_MS);
      promised.splice(0, 1, { secret, until: undefined }, { secret: promised[0]?.secret, until: formerUntil });
      expect(target.secrets).toEqual(promised);
    }
    world.now = promised.at(-1)?.until ?? 0;
    expect(await rotate()).toMatchObject({ kind: "rotated", target: { secrets: { length: 5 } } });
  });

  test("is for a webhook that exists", async () => {
    const world = await withCustomers();
    await add(world, "crm", FEED);
    expect(await rotateTargetSecret(portsOf(world), ACTOR, { name: "crm" })).toEqual({ kind: "no_webhook" });
    expect(await rotateTargetSecret(portsOf(world), ACTOR, { name: "other" })).toEqual({ kind: "no_target" });
  });
});

test("what failed is listed with its events, and is tried again when asked for", async () => {
  const world = await withCustomers();
  const { id } = (await add(world, "tv", WEBHOOK)).target;
  await world.topUp("1");
  await world.topUp("2");
  const events = await eventsAfter(world, 0);
  const [one, two] = events.slice(-2).map(({ seq }) => seq) as [number, number];
  await deliver(world, id, two, [failing(one, world.now, true), failing(two, world.now)]);
  const failed = await listFailed(world.ports, { name: "tv" });
  expect(failed?.map(({ event, setAside }) => [event.key.cuid, setAside])).toEqual([
    ["1", true],
    ["2", false],
  ]);
  world.now += HOUR_MS;
  expect(await resendToTarget(world.ports, ACTOR, { name: "tv" })).toBe(2);
  const again = { setAside: false, attempts: 0, nextAt: world.now };
  expect(await listFailed(world.ports, { name: "tv" })).toMatchObject([again, again]);
  expect(await resendToTarget(world.ports, ACTOR, { name: "other" })).toBeUndefined();
  expect(await listFailed(world.ports, { name: "other" })).toBeUndefined();
});

describe("a feed", () => {
  const open = ({ ports }: World, cursor?: string, name = "crm") => openFeed(ports, { name, cursor });

  async function withEvents() {
    const world = await withCustomers();
    await world.topUp("1");
    await add(world, "crm", FEED);
    for (const cuid of ["1", "2", "1"]) {
      world.now += MINUTE_MS;
      await world.topUp(cuid);
    }
    const opened = await open(world);
    if (opened.kind !== "opened") throw new Error(opened.kind);
    const events = await eventsAfter(world, opened.after);
    const [first, second, third] = events.map((event) => ({ ...event, id: eventId(event) }));
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are too few");
    return { world, start: opened.after, events: [first, second, third] as const };
  }

  test("begins with what happens after it was added, and goes on from there until a cursor says more", async () => {
    const { world, start, events } = await withEvents();
    expect(events.map(({ key }) => key.cuid)).toEqual(["1", "2", "1"]);
    expect(await open(world)).toEqual({ kind: "opened", after: start });
    const [, second] = events;
    expect(await open(world, second.id)).toEqual({ kind: "opened", after: second.seq });
    expect(await open(world)).toEqual({ kind: "opened", after: second.seq });
  });

  test("is read again from an earlier cursor, and its place does not go back", async () => {
    const { world, events } = await withEvents();
    const [first, , third] = events;
    await open(world, third.id);
    expect(await open(world, first.id)).toEqual({ kind: "opened", after: first.seq });
    expect(await open(world)).toEqual({ kind: "opened", after: third.seq });
  });

  test("goes on from its place though the event there is kept no more", async () => {
    const { world, events } = await withEvents();
    const [first, second] = events;
    await open(world, second.id);
    while ((await world.store.outbox.forget(0)) > 0);
    expect(await world.store.outbox.eventsOf([second.seq])).toEqual([]);
    expect(await open(world, second.id)).toEqual({ kind: "opened", after: second.seq });
    expect(await open(world, first.id)).toEqual({ kind: "unknown_cursor" });
  });

  test("takes no cursor that it did not give, and its place stays", async () => {
    const { world, start, events } = await withEvents();
    const { at, seq } = events[2];
    for (const cursor of ["", "null", "7", `evt_${at}_${seq + 1}`, `evt_${at + 1}_${seq}`, `evt_${at}_0`])
      expect(await open(world, cursor), cursor).toEqual({ kind: "unknown_cursor" });
    expect(await open(world)).toEqual({ kind: "opened", after: start });
  });

  test("is no other kind, and is not read while it is paused", async () => {
    const { world } = await withEvents();
    await add(world, "tv", WEBHOOK);
    expect(await open(world, undefined, "tv")).toEqual({ kind: "no_feed" });
    expect(await open(world, undefined, "other")).toEqual({ kind: "no_target" });
    await setTargetPaused(world.ports, ACTOR, { name: "crm", paused: true });
    expect(await open(world)).toEqual({ kind: "paused" });
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../../src/domain/top-up.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { Session, WAITS } from "../../../src/store/postgres/session/session.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { by } from "../../support/by.ts";
import { makeEmptyDatabase, withClient } from "../../support/postgres-database.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { openFaultyProvider, sleep, timed } from "./faulty-provider.ts";

const WRITE = { name: "write", text: "INSERT INTO written VALUES (1)" };
const WITHIN_MS = 600;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("what the network delivers up to just before the end of a statement, and then the rest with the commit", () => {
  test.for([
    { heldMs: 50, what: "in time is committed", isCommitted: true },
    { heldMs: 2 * WITHIN_MS, what: "too late is not", isCommitted: false },
  ])("$what", async ({ heldMs, isCommitted }, { onTestFinished }) => {
    const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
    await made;
    await withClient(url, (client) => client.query("CREATE TABLE written (number integer)"));
    const proxy = await PostgresProxy.start(url);
    onTestFinished(() => proxy.close());
    const database = new Database({ url: proxy.url, connections: 1 });
    onTestFinished(() => database.close());
    proxy.splitStatement = WRITE.name;
    const committing = timed(() =>
      database.transact([], (_, session) => session.commit([[WRITE], [WRITE]], WITHIN_MS)),
    );
    await expect.poll(() => proxy.isHolding).toBe(true);
    await sleep(heldMs);
    proxy.pass();
    const { result } = await committing;
    if (isCommitted) expect(result).toBeUndefined();
    else expect(String(result)).toBe(`${StoreUnavailable.name}: the transaction took too long`);
    const { rows } = await withClient(url, (client) => client.query("SELECT count(*)::int AS count FROM written"));
    expect(rows).toEqual([{ count: isCommitted ? 2 : 0 }]);
    // The session is had again, or another one.
    await database.transact([], (_, session) => session.commit([[WRITE]], WITHIN_MS));
  });

  test("is, of top-ups, committed before the deadline of recording or not at all", async ({ onTestFinished }) => {
    const { store, command } = await openFaultyProvider({ onTestFinished });
    const commit = vi.spyOn(Session.prototype, "commit");
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
    expect(commit.mock.calls.map(([, withinMs]) => withinMs)).toEqual([WAITS.transaction]);
    expect(WAITS.transaction).toBeLessThan(RECORDING_DEADLINE_MS);
  });

  test("is, of a correction, committed before the deadline that is counted from its time", async ({
    onTestFinished,
  }) => {
    const { store, command, now } = await openFaultyProvider({ onTestFinished });
    const sent = command(SITA_NET, "NET-1M");
    await store.settleTopUp(sent);
    const commit = vi.spyOn(Session.prototype, "commit");
    const late = { ...by(now - RECORDING_DEADLINE_MS + WITHIN_MS), reason: "paid twice" };
    expect(await store.corrections.reverse(sent.checkoutId, late)).toMatchObject({ kind: "reversed" });
    expect(commit.mock.calls.map(([, withinMs]) => withinMs)).toEqual([WITHIN_MS]);
  });
});

test("a server notices soon that a client is gone without a word", async ({ onTestFinished }) => {
  const { url, made } = makeEmptyDatabase(undefined, onTestFinished);
  await made;
  const database = new Database({ url, connections: 1 });
  onTestFinished(() => database.close());
  const [found] = await database.ask<{ idle: number; is_linux: boolean }>({
    name: "idle",
    text: "SELECT current_setting('tcp_keepalives_idle')::int AS idle, version() LIKE '%linux%' AS is_linux",
  });
  if (found?.is_linux === true) expect(found.idle).toBe(10);
});

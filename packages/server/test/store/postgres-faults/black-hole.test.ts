import { describe, expect, inject, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { RAM_NET, SITA_NET } from "../../store-suite/provider.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { openElsewhere, openFaultyProvider, sleep, timed, untilWell } from "./faulty-provider.ts";

/** The longest wait: for a session, then for its answer. */
const FIRST_ONES_MS = 8_000;

describe.concurrent("a network that takes everything and gives nothing", () => {
  test("costs each request some seconds at most, and is forgotten when it ends", async ({ onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished, connections: 2 });
    const { store, proxy, command } = opened;
    const commands = [command(SITA_NET, "NET-1M"), command(RAM_NET, "NET-1M")];
    proxy.hold();
    const first = await Promise.all([
      ...commands.map((each) => timed(() => store.settleTopUp(each))),
      ...Array.from({ length: 6 }, () => timed(() => store.findConnection(SITA_NET))),
      timed(() => store.findTransaction(commands[0]?.checkoutId ?? "")),
      timed(() => store.ping()),
    ]);
    for (const { ms, result } of first) {
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(ms).toBeLessThan(FIRST_ONES_MS);
    }
    for (const work of [() => store.ping(), () => store.settleTopUp(command(RAM_NET, "NET-1M"))]) {
      const { ms, result } = await timed(work);
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(ms).toBeLessThan(2_500);
    }
    proxy.pass();
    const ms = await untilWell(() => store.ping());
    expect(ms).toBeLessThan(5_000);
    for (const each of commands) expect(await store.settleTopUp(each)).toMatchObject({ kind: "recorded" });
    expect(await countRows(opened, "top_up")).toBe(2);
    expect(await findWrong(store)).toEqual([]);
  });

  test("records nothing when a commit comes out of it late", async ({ onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    const { store, proxy } = opened;
    const command = opened.command(SITA_NET, "NET-1M");
    proxy.commitFault = "held";
    const { ms, result } = await timed(() => store.settleTopUp(command));
    expect(result).toBeInstanceOf(StoreUnavailable);
    expect(ms).toBeLessThan(FIRST_ONES_MS);
    proxy.pass();
    await sleep(500);
    expect(await countRows(opened, "top_up")).toBe(0);
    await untilWell(() => store.ping());
    expect(await store.settleTopUp(command)).toMatchObject({ kind: "recorded" });
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("keeps a store from being opened or closed for a few seconds only", async ({ onTestFinished }) => {
    const { store, proxy } = await openFaultyProvider({ onTestFinished });
    await Promise.all(Array.from({ length: 4 }, () => store.ping()));
    proxy.hold();
    const opening = timed(() => openElsewhere(proxy.url));
    const closing = timed(() => store.close());
    for (const { ms } of await Promise.all([opening, closing])) expect(ms).toBeLessThan(4_000);
    expect((await opening).result).toBeInstanceOf(StoreUnavailable);
    expect((await closing).result).toBeUndefined();
    await expect(store.ping()).rejects.toThrow(StoreUnavailable);
  });

  test("leaves no socket behind", async ({ expect, onTestFinished }) => {
    const proxy = await PostgresProxy.start(inject("postgresUrl"));
    onTestFinished(() => proxy.close());
    proxy.hold();
    await timed(() => openElsewhere(proxy.url));
    await expect.poll(() => proxy.connections, { timeout: 2_000 }).toBe(0);
  });
});

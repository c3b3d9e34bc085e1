import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { afterEach, expect, inject, test, vi } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { Database } from "../../../src/store/postgres/session/database.ts";
import { WAITS } from "../../../src/store/postgres/session/session.ts";
import { TopUpTables } from "../../../src/store/postgres/tables/top-ups.ts";
import { countRows } from "../../store-suite/database.ts";
import { SITA_NET } from "../../store-suite/provider.ts";
import { asError, PostgresProxy } from "../../support/postgres-proxy.ts";
import { openFaultyProvider, timed } from "./faulty-provider.ts";

const ONE = { name: "one", text: "SELECT 1 AS one" };

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("a session that is ended while it is set up, and then silent, costs whoever waits for it a moment only", async ({
  onTestFinished,
}) => {
  const proxy = await PostgresProxy.start(inject("postgresUrl"));
  onTestFinished(() => proxy.close());
  const database = new Database({ url: proxy.url, connections: 1 });
  onTestFinished(() => database.close());
  proxy.silencesNextSetUp = true;
  const { ms, result } = await timed(() => database.ask(ONE));
  expect(result).toBeInstanceOf(StoreUnavailable);
  expect(String(result)).toContain("has ended the session");
  expect(ms).toBeLessThan(1_000);
  expect(await database.ask(ONE)).toEqual([{ one: 1 }]);
});

test("a session that is refused is left at once, also where nobody hears that the server has closed it", async ({
  expect,
  onTestFinished,
}) => {
  let isLeft = false;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    socket.on("end", () => {
      isLeft = true;
    });
    socket.once("data", () => socket.write(asError("SFATAL", "VFATAL", "C53300", "Mtoo many connections for role")));
    onTestFinished(async () => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = new Database({ url: `postgres://somebody@127.0.0.1:${port}/something`, connections: 1 });
  onTestFinished(() => database.close());
  await expect(database.ask(ONE)).rejects.toThrow("no connection left");
  await expect.poll(() => isLeft).toBe(true);
});

test("a pool that gives no session is waited for only so long, and what it gives later is given back", async ({
  onTestFinished,
}) => {
  const database = new Database({ url: "postgres://nobody@127.0.0.1:1/nothing", connections: 1 });
  onTestFinished(() => database.close());
  let give: (client: pg.PoolClient) => void = () => {};
  const given = new Promise<pg.PoolClient>((resolve) => {
    give = resolve;
  });
  vi.spyOn(pg.Pool.prototype, "connect").mockReturnValue(given as never);
  const { ms, result } = await timed(() => database.ask(ONE));
  expect(result).toBeInstanceOf(StoreUnavailable);
  expect(ms).toBeLessThan(WAITS.session + 1_000);
  const release = vi.fn<() => void>();
  give({ release } as unknown as pg.PoolClient);
  await expect.poll(() => release.mock.calls.length).toBe(1);
});

test("a batch that is never settled is given up, and top-ups of the same customer go on", async ({
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished, connections: 2 });
  const { store, command } = opened;
  vi.spyOn(TopUpTables.prototype, "settle").mockReturnValueOnce(new Promise(() => {}));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stuck = timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
  const behind = timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
  await vi.advanceTimersByTimeAsync(WAITS.batch);
  vi.useRealTimers();
  for (const { result } of [await stuck, await behind]) expect(result).toBeInstanceOf(StoreUnavailable);
  expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
  expect(await countRows(opened, "top_up")).toBe(1);
});

test("a batch that is never settled keeps a store from being closed for some seconds only", async ({
  onTestFinished,
}) => {
  const { store, command } = await openFaultyProvider({ onTestFinished, connections: 2 });
  let end = () => {};
  const unsettled = new Promise<never>((_, reject) => {
    end = () => reject(new StoreUnavailable("the test is over"));
  });
  vi.spyOn(TopUpTables.prototype, "settle").mockReturnValueOnce(unsettled);
  const stuck = timed(() => store.settleTopUp(command(SITA_NET, "NET-1M")));
  await new Promise((resolve) => setTimeout(resolve, 100));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const closing = timed(() => store.close());
  await vi.advanceTimersByTimeAsync(WAITS.closing);
  vi.useRealTimers();
  expect((await closing).result).toBeUndefined();
  end();
  await stuck;
});

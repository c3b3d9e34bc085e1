import { beforeAll, describe, expect, test } from "vitest";
import type { TopUpCommand } from "../../../src/domain/top-up.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "../../store-suite/provider.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import {
  again,
  type FaultyProvider,
  openElsewhere,
  openFaultyProvider,
  sleep,
  timed,
  untilWell,
} from "./faulty-provider.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  return () => server.close();
});

describe("a restart of PostgreSQL in the middle of top-ups", () => {
  test.for(["immediate", "fast"] as const)(
    "(%s) loses none, makes none twice, and is got over",
    async (mode, context) => {
      const opened = await openFaultyProvider({ ...context, server: server.url });
      const { store } = opened;
      const load = new Load(opened);
      await load.untilRecorded(50);
      await server.stop(mode);
      await load.untilFailed(50);
      await server.start();
      const ms = await untilWell(() => store.ping());
      expect(ms).toBeLessThan(5_000);
      const before = load.recorded.length;
      await load.untilRecorded(before + 50);
      await load.end();

      for (const { reason } of load.failed) expect(reason).toBeInstanceOf(StoreUnavailable);
      for (const { checkoutId, txnDigits } of load.recorded)
        expect(await store.findTransaction(checkoutId)).toMatchObject({ txnId: expect.stringContaining(txnDigits) });
      for (const { command } of load.failed) {
        const found = await store.findTransaction(command.checkoutId);
        const outcome = await store.settleTopUp(again(command));
        expect(outcome.kind).toBe(found === undefined ? "recorded" : "replayed");
      }
      expect(await countRows(opened, "top_up")).toBe(load.recorded.length + load.failed.length);
      expect(await findWrong(store)).toEqual([]);
    },
  );
});

describe("while PostgreSQL is down", () => {
  test("requests fail at once, a store is neither opened nor long in closing, and it comes back", async (context) => {
    const opened = await openFaultyProvider({ ...context, server: server.url });
    const { store, command } = opened;
    const another = await opened.another();
    await Promise.all([store.ping(), another.ping()]);
    await server.stop("fast");
    // The cache has expired by then too.
    await sleep(1_200);
    const requests = [
      () => store.ping(),
      () => store.settleTopUp(command(SITA_NET, "NET-1M")),
      () => store.findConnection(SITA_NET),
      () => store.checkoutSecrets(),
      () => openElsewhere(opened.url),
    ];
    for (const { ms, result } of await Promise.all(requests.map(timed))) {
      expect(result).toBeInstanceOf(StoreUnavailable);
      expect(String(result)).toContain("PostgreSQL");
      expect(ms).toBeLessThan(1_000);
    }
    await expect(store.ping()).rejects.toThrow(/^the connection to PostgreSQL failed: /);
    const closing = await timed(() => another.close());
    expect(closing.result).toBeUndefined();
    expect(closing.ms).toBeLessThan(3_000);
    await server.start();
    expect(await untilWell(() => store.ping())).toBeLessThan(5_000);
    expect(await store.settleTopUp(command(SITA_NET, "NET-1M"))).toMatchObject({ kind: "recorded" });
  });
});

/** Partners that send one top-up after the other, whatever the answer is. */
class Load {
  readonly recorded: TopUpCommand[] = [];
  readonly failed: { readonly command: TopUpCommand; readonly reason: unknown }[] = [];
  readonly #partners: Promise<void>[];
  #isOver = false;

  constructor({ store, command }: FaultyProvider) {
    const connections = [SITA_NET, RAM_NET, SITA_TV, RAM_TV];
    this.#partners = Array.from({ length: 12 }, async (_, index) => {
      const connection = connections[index % connections.length] ?? SITA_NET;
      while (!this.#isOver) {
        const sent = command(connection, connection.service === "tv" ? "TV-1M" : "NET-1M");
        try {
          const outcome = await store.settleTopUp(sent);
          expect(outcome.kind).toBe("recorded");
          this.recorded.push(sent);
        } catch (reason) {
          this.failed.push({ command: sent, reason });
          await sleep(20);
        }
      }
    });
  }

  async untilRecorded(count: number): Promise<void> {
    await expect.poll(() => this.recorded.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  }

  async untilFailed(count: number): Promise<void> {
    await expect.poll(() => this.failed.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#partners);
  }
}

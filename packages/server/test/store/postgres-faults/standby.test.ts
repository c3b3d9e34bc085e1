import { afterAll, beforeAll, expect, test } from "vitest";
import { listAttention } from "../../../src/office/alerts/operations.ts";
import { reportSettlement } from "../../../src/office/settlement/operations.ts";
import { sumTransactions } from "../../../src/office/transactions/operations.ts";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { RAM_NET, SITA_NET, SITA_TV } from "../../store-suite/provider.ts";
import { run } from "../../support/desk.ts";
import { withClient } from "../../support/postgres-database.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { openElsewhere, openFaultyProvider, sleep } from "./faulty-provider.ts";

let primary: PostgresServer;
let standby: PostgresServer;
beforeAll(async () => {
  primary = await startPostgres();
  standby = await primary.startStandby();
});
afterAll(async () => {
  await standby.close();
  await primary.close();
});

test("reports read a standby: settlements wait for it, lists say what it has, and without it sales go on", async (context) => {
  const opened = await openFaultyProvider({ ...context, server: primary.url, standby: standby.url });
  const { store, desk, topUp } = opened;
  const production = { environment: "production" } as const;
  const day = store.provider.zone.wallTime(opened.now).slice(0, 10);
  const settled = () => run(desk(), reportSettlement, { ...production, from: day, to: day });
  const listed = () => run(desk(), sumTransactions, production);
  await topUp(SITA_NET, "NET-1M");
  expect(await settled()).toMatchObject({ total: { topUps: 1 } });
  expect(await listed()).toMatchObject({ count: 1 });
  expect(await store.reportsBehindMs()).toBe(0);

  await replay("pause");
  await topUp(RAM_NET, "NET-1M");
  expect(await listed()).toMatchObject({ count: 1 });
  const waiting = settled();
  await sleep(300);
  expect(await store.reportsBehindMs()).not.toBe(0);
  await replay("resume");
  expect(await waiting).toMatchObject({ total: { topUps: 2 } });

  await standby.stop("fast");
  await topUp(SITA_TV, "TV-1M");
  await expect(settled()).rejects.toThrow(StoreUnavailable);
  const { items } = await run(desk(), listAttention, production);
  expect(items).toContainEqual(expect.objectContaining({ kind: "reports_behind" }));
});

test("a database that is no standby is refused for reports", async ({ onTestFinished }) => {
  const store = await openElsewhere(primary.url, primary.url);
  onTestFinished(() => store.close());
  await expect(store.reports.db.selectFrom("provider").selectAll().execute()).rejects.toThrow("is no standby");
});

const replay = (act: "pause" | "resume") =>
  withClient(standby.url, (client) => client.query(`SELECT pg_wal_replay_${act}()`));

import { expect, test } from "vitest";
import { plain } from "../store-suite/customers.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";

const RUNNING = { code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" };

test("a subscription stays in its page when it is topped up, though others fill the pages around it", async () => {
  const { restate, topUp, database } = await openProvider(() => makePostgresDatabase());
  const customers = Array.from({ length: 200 }, (_, index) =>
    plain(`30${index}`, {
      connections: { internet: [{ username: `u${index}`, status: "active", subscriptions: [RUNNING] }] },
    }),
  );
  await restate(...customers);
  const pages = () => database.read("SELECT req_id, (ctid::text::point)[0] AS page FROM subscription ORDER BY req_id");
  const before = await pages();
  expect(Math.max(...before.map(({ page }) => page as number))).toBeGreaterThan(2);
  for (const reqId of ["u0", "u20", "u40", "u60"])
    await topUp({ ...SITA_NET, cuid: `3${reqId.replace("u", "0")}`, reqId }, "NET-1M");
  expect(await pages()).toEqual(before);
});

test("a batch that was planned while there was no top-up does not read all of them once there are many", async () => {
  const database = makePostgresDatabase();
  const { store, command } = await openProvider(() => database);
  await withClient(database.url, (client) => client.query("VACUUM ANALYZE"));
  for (let batch = 0; batch < 3; batch += 1) {
    const commands = Array.from({ length: 200 }, () => command(SITA_NET, "NET-1M"));
    for (const outcome of await Promise.all(commands.map((each) => store.settleTopUp(each)))) expectRecorded(outcome);
  }
  await store.close();
  const read = async () =>
    (
      await database.read(`SELECT n_tup_ins::int AS written, (seq_tup_read + idx_tup_fetch)::int AS read
        FROM pg_stat_user_tables WHERE relname = 'top_up'`)
    )[0];
  await expect.poll(read).toEqual({ written: 600, read: 0 });
});

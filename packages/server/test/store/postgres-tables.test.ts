import { expect, test } from "vitest";
import { plain } from "../store-suite/customers.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

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

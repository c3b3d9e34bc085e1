import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { partnersOf, UNLIMITED } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { startTestService } from "../support/service.ts";

/** A folder with the catalogue and the customers of a real provider. */
const DATA = process.env["PROVIDER_DATA"];
if (DATA === undefined) process.stderr.write("SKIPPED: a provider's data, since PROVIDER_DATA names no folder\n");

const readRows = (name: string): Row[] =>
  readFileSync(join(DATA ?? "", name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);

// biome-ignore lint/suspicious/noExplicitAny: rows of files, looked into by name
type Row = any;

const SERVICES = [
  ["tv", "stb"],
  ["internet", "username"],
  ["iptv", "username"],
] as const;

/** Each plan can be bought beside the others. */
const MANY = { tv: "many", internet: "many", iptv: "many" } as const;

const STORES = [
  // All are imported; topped up, a part of them tells as much in less time.
  { name: "SQLite", opening: () => ({}), everyNth: 80 },
  { name: "PostgreSQL", opening: () => ({ openStore: makePostgresDatabase().open }), everyNth: 80 },
];

test.skipIf(DATA === undefined).each(STORES)(
  "a provider's real data work on $name",
  async ({ opening, everyNth }) => {
    const service = await startTestService({ ...opening(), timeZone: "Asia/Kathmandu", basePlans: MANY });
    const call = (...[operation, body]: Parameters<typeof service.call>) =>
      service.call(operation, body, { token: service.liveToken });

    await partnersOf(service.store).setLimits("wallet", UNLIMITED, by(service.now));
    await service.importCatalogue(readRows("catalogue.ndjson"));
    const customers = readRows("customers.ndjson");
    for (const effect of ["added", "unchanged"])
      expect(await service.importCustomers(customers)).toMatchObject({ [effect]: customers.length, rejected: 0 });

    // A mobile number that two customers share is refused, and all others are found.
    const owners = new Map<string, number>();
    for (const { mobile } of customers) owners.set(mobile, (owners.get(mobile) ?? 0) + 1);
    const shared = [...owners].filter(([, count]) => count > 1);
    expect(shared).toHaveLength(20);
    for (const [code, count] of [...shared, ...[...owners].filter((_, index) => index % everyNth === 0)]) {
      const { json } = await call("get-customer-information", { code });
      expect(json.code, code).toBe(count > 1 ? "400aa102" : "400aa010");
    }

    // Connections are listed, topped up with each bouquet offered, and queried.
    let connections = 0;
    let toppedUp = 0;
    const active = customers.filter(({ status }) => status === "active");
    for (const customer of active.filter((_, index) => index % everyNth === 0)) {
      for (const [name, id] of SERVICES) {
        for (const item of customer.connections[name]) {
          connections += 1;
          toppedUp += await topUpEach({ cuid: customer.cuid, service: name, reqId: item[id] });
        }
      }
    }
    expect(connections).toBeGreaterThan(2_500 / everyNth);
    expect(toppedUp).toBeGreaterThan(20_000 / everyNth);
    for await (const event of service.store.check()) expect(event.kind, event.what).toBe("checked");

    async function topUpEach(connection: { cuid: string; service: string; reqId: string }): Promise<number> {
      const listed = await call("get-subscription-package", connection);
      expect(listed.status).toBe(200);
      const { bouquets } = listed.json.body[connection.service];
      expect(bouquets.length).toBeGreaterThan(0);
      const results = bouquets.map(async ({ code, price }: Row) => {
        const { checkoutId } = (await call("get-subscription-package", connection)).json.body;
        const purchase = { ...connection, checkoutId, bouquetId: code, amt: String(price) };
        const made = await call("subscription-package-topup", purchase);
        expect([made.status, made.json.body.result?.amt]).toEqual([200, price]);
        expect((await call("txn-status", { checkoutId })).json).toEqual(made.json);
      });
      await Promise.all(results);
      return results.length;
    }
  },
  300_000,
);

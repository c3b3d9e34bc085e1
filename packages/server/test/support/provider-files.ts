import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { addPartner } from "../../src/office/partners/operations.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { importRows, publishRows } from "./catalogue.ts";
import { deskOf, run } from "./desk.ts";

/* Rows as they stand in a provider's own files. */

export const CATALOGUE = [
  { service: "internet", code: "NET-1M", name: "Fiber 100 Mbps (MONTHLY)", price: 1130 },
  { service: "internet", code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", price: "3220.50" },
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 },
];

export const SITA = {
  cuid: "2000001",
  first_name: "Sita",
  last_name: "Rai",
  mobile: "9800000101",
  status: "active",
  connections: {
    internet: [
      {
        username: "sita",
        status: "active",
        subscriptions: [{ code: "NET-1M", startdate: "2026-01-31 10:00:00", enddate: "2026-02-28 10:00:00" }],
      },
    ],
  },
};

export const SITA_NET = { cuid: "2000001", service: "internet", reqId: "sita" };

/** Makes the database of a folder, with a partner, a catalogue and a customer. @returns a production token. */
export async function fillDatabase({ folder }: { readonly folder: string }): Promise<string> {
  const world = { clock: Date.now, random: randomBytes };
  const wishes = { timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS };
  const store = await openSqliteStore({ path: join(folder, "topupd.db"), ...wishes, ...world });
  const [ports, actor, environment] = [{ store, ...world }, { name: "tester" }, "production"] as const;
  try {
    await publishRows(store, CATALOGUE, Date.now());
    await importRows(ports, [SITA]);
    const desk = deskOf(ports, actor);
    await run(desk, addPartner, { name: "wallet" });
    return (await run(desk, issueToken, { partner: "wallet", environment })).token;
  } finally {
    await store.close();
  }
}

import type { Partner } from "../src/domain/access-token.ts";
import type { ConnectionKey } from "../src/domain/customer.ts";
import { type Actor, attributionOf, type Ports } from "../src/services/ports.ts";
import { importCatalogue } from "../src/services/staff/import-catalogue.ts";
import { importCustomers } from "../src/services/staff/import-customers.ts";
import { ndjson } from "../test/support/service.ts";
import type { Choices } from "./random.ts";

/** Zones in which days are odd, and a month of each: clocks are changed in all but the first. */
export const MONTHS = [
  { zone: "Asia/Kathmandu", month: "2026-11", days: 30 },
  { zone: "Europe/Berlin", month: "2027-03", days: 31 },
  { zone: "America/Havana", month: "2027-11", days: 30 },
  { zone: "Australia/Lord_Howe", month: "2027-04", days: 30 },
  { zone: "America/St_Johns", month: "2027-03", days: 31 },
] as const;

/** As many as the file of a small provider. */
const CUSTOMERS = 2_000;
const SERVICES = ["tv", "internet", "iptv"] as const;
export const PARTNERS = ["Blue Wallet", "Bank, North", "=Reseller"] as const;

/** Minor units. The last is the largest that there is: a month of it is more than 64 bits hold. */
const PRICES = [1n, 45_000n, 322_050n, 10n ** 15n - 1n];
const PERIODS = ["DAILY", "WEEKLY", "MONTHLY", "QUARTERLY"];

export interface Provider {
  readonly partners: readonly Partner[];
  /** Something that can be bought. */
  readonly anySale: (choices: Choices) => {
    readonly connection: ConnectionKey;
    readonly code: string;
    readonly price: bigint;
  };
}

/** Fills an empty database. All services have bouquets of the same codes. */
export async function fillProvider(ports: Ports, actor: Actor, exponent: number): Promise<Provider> {
  const catalogue = SERVICES.flatMap((service) =>
    PERIODS.map((period, index) => {
      const price = decimal(PRICES[index] as bigint, exponent);
      return { service, code: `B-${index}`, name: `Plan of ${service} (${period})`, price };
    }),
  );
  const customers = Array.from({ length: CUSTOMERS }, (_, index) => ({
    ...{ cuid: `c${index}`, first_name: "First", last_name: "Last", mobile: `98${index}`, status: "active" },
    connections: {
      tv: [{ stb: `tv${index}`, status: "active" }],
      internet: [{ username: `net${index}`, status: "active" }],
      iptv: [{ username: `iptv${index}`, status: "active" }],
    },
  }));
  const environment = "production";
  await importCatalogue(ports, actor, { environment, open: () => ndjson(catalogue) }, EXPECT_GOOD);
  await importCustomers(ports, actor, { environment, open: () => ndjson(customers) }, EXPECT_GOOD);
  const partners: Partner[] = [];
  for (const name of PARTNERS)
    partners.push((await ports.store.partners.add(name, attributionOf(ports, actor))) as Partner);
  return { partners, anySale };
}

const REQ_ID = { tv: "tv", internet: "net", iptv: "iptv" } as const;

function anySale(choices: Choices) {
  const [index, bouquet] = [choices.below(CUSTOMERS), choices.below(PRICES.length)];
  const service = choices.of(SERVICES);
  const connection = {
    environment: "production",
    cuid: `c${index}`,
    service,
    reqId: `${REQ_ID[service]}${index}`,
  } as const;
  return { connection, code: `B-${bouquet}`, price: PRICES[bouquet] as bigint };
}

/** Written anew, so that the campaign does not hold the service's own money against itself. */
export function decimal(minor: bigint, exponent: number): string {
  const unit = 10n ** BigInt(exponent);
  const sign = minor < 0n ? "-" : "";
  const [units, rest] = [minor < 0n ? -minor / unit : minor / unit, (minor < 0n ? -minor : minor) % unit];
  return exponent === 0 ? `${sign}${units}` : `${sign}${units}.${String(rest).padStart(exponent, "0")}`;
}

const EXPECT_GOOD = {
  onProgress: () => {},
  onHeldBack: refuse,
  onWarning: refuse,
  onRejected: refuse,
};

function refuse(what: unknown): never {
  throw new Error(`the campaign's own data is wrong: ${JSON.stringify(what)}`);
}

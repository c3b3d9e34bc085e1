import { type Bouquet, bouquetFinder } from "../../../domain/bouquet.ts";
import { readCustomerRow, type StatedCustomer } from "../../../domain/customer-row.ts";
import { FAULTS, PRACTICE_CUID } from "../../../domain/practice.ts";
import { DAY_MS, type Instant, plus, type Zone } from "../../../domain/wall-time.ts";
import { publishBouquets } from "../../../office/catalogue/publish.ts";
import { type Actor, officeOf } from "../../../office/office.ts";
import { perform } from "../../../office/operation.ts";
import { addPartner } from "../../../office/partners/operations.ts";
import { findPartner } from "../../../office/partners/sql.ts";
import { issueToken } from "../../../office/partners/tokens.ts";
import { addStaff } from "../../../office/staff/operations.ts";
import { changeAccount, readStaff } from "../../../office/staff/sql.ts";
import { asRow, expectGood, trialCatalogue } from "../../../partner/openapi/examples.ts";
import type { Db } from "../../../store/engine.ts";
import type { Ports } from "../../../store/ports.ts";
import type { DeskSession } from "../command.ts";
import { shellDesk } from "../desk.ts";

/** The customers without faults. */
export const TRIAL_CUIDS = ["1000001", "1000002", "1000003", "1000004", "1000005"] as const;

const FAR_AHEAD = "5000-01-01 00:00:00";

/**
 * Resets the trial environment to its first state: its catalogue and its six customers without top-ups. Dates are
 * relative to now, so the same subscriptions are always running and lapsed.
 */
export async function resetTrial(ports: Ports, actor: Actor): Promise<void> {
  const { store } = ports;
  const { zone, currencyExponent } = store.provider;
  const office = officeOf({ ...ports, actor });
  const now = zone.moment(office.by.at);
  const bouquets = trialCatalogue(currencyExponent);
  if (!(await hasTrialCatalogue(store, now.instant))) await publishBouquets(office, "trial", { bouquets });
  const rows = trialCustomers(bouquets, zone, now.instant).map((stated) => ({ stated, asOf: now }));
  await store.importCustomers("trial", rows, office.by, {
    now,
    mode: "reset",
    toleranceDays: 1,
    allowShorter: new Set(),
  });
}

/**
 * Resets the trial environment again on each day: partners share its customers. Does nothing if it was never reset, or if
 * the provider has published another trial catalogue.
 */
export async function restoreTrial(ports: Ports): Promise<void> {
  const { engine, provider } = ports.store;
  const ofPractice = engine.db
    .selectFrom("customer")
    .where("environment", "=", "trial")
    .where("cuid", "=", PRACTICE_CUID);
  const customer = await ofPractice.select("asOf").executeTakeFirst();
  if (customer === undefined) return;
  const dayOf = (at: Instant) => provider.zone.wallTime(at).slice(0, "YYYY-MM-DD".length);
  const isOfToday = dayOf(customer.asOf ?? 0) === dayOf(ports.clock());
  if (isOfToday && !(await isPaidFarAhead(engine.db))) return;
  if (await hasTrialCatalogue(ports.store, ports.clock())) await resetTrial(ports, { name: "practice" });
}

/** Whether top-ups of a shared connection may soon reach the year 9999, the last one. */
async function isPaidFarAhead(db: Db): Promise<boolean> {
  const shared = db
    .selectFrom("subscription")
    .where("environment", "=", "trial")
    .where("cuid", "in", [...TRIAL_CUIDS, PRACTICE_CUID]);
  return (await shared.select("seq").where("endTime", ">", FAR_AHEAD).limit(1).executeTakeFirst()) !== undefined;
}

/** Secrets that are shown once. */
export interface Access {
  readonly token: string;
  readonly password: string;
}

const PASSWORD_BYTES = 12;

/**
 * Makes a new trial token of a partner, and a new password of an admin and a seller.
 * @param name both the partner's and the admin's.
 */
export async function giveAccess(session: DeskSession, name: string, seller: string): Promise<Access> {
  const { db } = session.store.engine;
  const desk = shellDesk(session);
  if ((await findPartner(db, name)) === undefined) await perform(addPartner, desk, { name });
  const { token } = await perform(issueToken, desk, { partner: name, environment: "trial" });
  const password = Buffer.from(session.random(PASSWORD_BYTES)).toString("base64url");
  const staff = await readStaff(db);
  const people = [
    { name, role: "admin", password },
    { name: seller, sellerOf: name, environment: "trial", password },
  ] as const;
  for (const person of people) {
    if (!staff.some((member) => member.name === person.name)) await perform(addStaff, desk, person);
    // A password of the demo need not be changed at the first log-in.
    const to = { password: await desk.accounts.hashPassword(password), mustChangePassword: false };
    await changeAccount(officeOf(desk), person.name, [["staff.password", to]]);
  }
  return { token, password };
}

function trialCustomers(bouquets: readonly Bouquet[], zone: Zone, now: Instant): StatedCustomer[] {
  const context = { findBouquet: bouquetFinder(bouquets) };
  return trialRows(zone, now).map((row) => expectGood(readCustomerRow(asRow(row), context)));
}

function trialRows(zone: Zone, now: Instant): object[] {
  /** A one-month subscription. After 10 days it still runs, after 40 it has lapsed. */
  const bought = (code: string, daysAgo: number) => {
    const start = zone.wallTime(now - daysAgo * DAY_MS);
    return { code, startdate: start, enddate: plus(start, { months: 1, days: 0 }) };
  };
  const customer = (index: number, firstName: string, status: string, connections: object) => ({
    cuid: TRIAL_CUIDS[index],
    first_name: firstName,
    last_name: "Trial",
    mobile: `980000000${index + 1}`,
    status,
    connections,
  });
  const internet = (username: string, status: string, daysAgo: number) => [
    { username, status, subscriptions: [bought("TRIAL-NET-1M", daysAgo)] },
  ];
  return [
    customer(0, "Asha", "active", {
      tv: [
        { stb: "000100000000001", status: "active", subscriptions: [bought("TRIAL-TV-1M", 10)] },
        { stb: "000100000000002", status: "inactive", subscriptions: [bought("TRIAL-TV-1M", 40)] },
      ],
      internet: internet("trial1", "active", 10),
    }),
    customer(1, "Bikash", "active", { internet: internet("trial2", "inactive", 40) }),
    customer(2, "Chandra", "active", {
      tv: [
        {
          stb: "000100000000003",
          status: "active",
          subscriptions: [bought("TRIAL-TV-1M", 10), bought("TRIAL-KIDS-1M", 5)],
        },
      ],
    }),
    customer(3, "Deepa", "active", {
      internet: internet("trial4", "active", 10),
      iptv: [{ username: "trial4-iptv", status: "active", subscriptions: [bought("TRIAL-ITV-1M", 10)] }],
    }),
    customer(4, "Esha", "inactive", { internet: internet("trial5", "inactive", 40) }),
    {
      ...{ cuid: PRACTICE_CUID, first_name: "Practice", last_name: "Trial", mobile: "9800000010", status: "active" },
      connections: { internet: FAULTS.flatMap(({ name }) => internet(name, "active", 10)) },
    },
  ];
}

async function hasTrialCatalogue(store: Ports["store"], now: Instant): Promise<boolean> {
  const text = (bouquets: readonly Bouquet[] = []) =>
    JSON.stringify(bouquets, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  const current = await store.currentCatalogue("trial", now);
  return text(current?.bouquets) === text(trialCatalogue(store.provider.currencyExponent));
}

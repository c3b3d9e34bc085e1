import type { Kysely } from "kysely";
import type { BasePlans } from "../domain/catalogue.ts";
import { CHECKOUT_KEY_BYTES } from "../domain/checkout-secret.ts";
import { mobileNumbersOf } from "../domain/mobile-number.ts";
import type { Instant } from "../domain/wall-time.ts";
import { createZone } from "../domain/zone.ts";
import type { Engine } from "./engine.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "./errors.ts";
import { putOnlyRow } from "./only-row.ts";
import type { ProviderSettings } from "./store.ts";
import type { ProviderRow, Tables } from "./tables.ts";

/** What the operator asks for. What is undefined was left open: then the database's own holds, or the default. */
export interface ProviderWishes {
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
  readonly defaultCountry?: string | undefined;
  readonly basePlans: BasePlans;
  /** Whoever only works with what there is changes no settings either. */
  readonly mustExist?: boolean;
  /** Refuses a database to which anything was ever added. */
  readonly mustBeNew?: boolean;
}

const DEFAULTS = { timeZone: "UTC", currencyExponent: 2, defaultCountry: null };

/**
 * What the database's times and amounts mean. To be called while opening.
 * @throws SettingsRefused where the operator asks for others than the database was filled with; StoreRefused where it must
 *   be new and is not.
 */
export async function settleProvider(engine: Engine, wishes: ProviderWishes): Promise<ProviderSettings> {
  const choose = async (db: Kysely<Tables>) => {
    const stored = await readProvider(db);
    const row = chooseProvider(stored, wishes, await findFilling(db));
    return { row, isStored: stored !== undefined && isSameProvider(stored, row) };
  };
  const found = await choose(engine.db);
  if (found.isStored) return toSettings(found.row, wishes.basePlans);
  const settled = await engine.change(async (tx) => {
    const { row, isStored } = await choose(tx);
    if (!isStored) await putOnlyRow(tx, "provider", row);
    return row;
  });
  return toSettings(settled, wishes.basePlans);
}

/** All processes share the secrets, so that each can open what another issued. To be called while opening. */
export async function ensureCheckoutSecret(
  engine: Engine,
  { clock, random }: { readonly clock: () => Instant; readonly random: (bytes: number) => Uint8Array },
): Promise<void> {
  const find = (db: Kysely<Tables>) => db.selectFrom("checkoutSecret").select("id").limit(1).executeTakeFirst();
  if ((await find(engine.db)) !== undefined) return;
  await engine.change(async (tx) => {
    if ((await find(tx)) !== undefined) return;
    const first = { id: 0, key: random(CHECKOUT_KEY_BYTES), createdAt: clock() };
    await tx.insertInto("checkoutSecret").values(first).execute();
  });
}

/**
 * Another process may have chosen others as long as the database was empty. To be called inside a transaction that reads a
 * catalogue or fills the database.
 * @throws StoreUnavailable where this process does not know of them yet.
 */
export async function verifyProvider(tx: Kysely<Tables>, settings: ProviderSettings): Promise<void> {
  refuseOtherProvider(await readProvider(tx), settings);
}

/** The same of a row that was read: undefined where there is none. */
export function refuseOtherProvider(stored: ProviderValues | undefined, settings: ProviderSettings): void {
  if (stored !== undefined && isSameProvider(stored, providerValues(settings))) return;
  throw new StoreUnavailable("another process has changed time zone, currency exponent or country: restart this one");
}

/** What is stored beside a mobile number. */
export function e164Of(mobile: string | undefined, { normaliseMobile }: ProviderSettings): string | null {
  return (mobile === undefined ? undefined : normaliseMobile?.(mobile)) ?? null;
}

/** The codes by which a text may find customers: it as it is and, where it is a mobile number, its one form. */
export function codesToFind(code: string, { normaliseMobile }: ProviderSettings): readonly [string, ...string[]] {
  const normal = normaliseMobile?.(code);
  return normal === undefined || normal === code ? [code] : [code, normal];
}

export type ProviderValues = Omit<ProviderRow, "onlyRow">;

/** Reads {@link ProviderValues} in hand-written SQL. */
export const SELECT_PROVIDER = `SELECT time_zone AS "timeZone", currency_exponent AS "currencyExponent",
  default_country AS "defaultCountry" FROM provider`;

function providerValues({ zone, currencyExponent, defaultCountry }: ProviderSettings): ProviderValues {
  return { timeZone: zone.name, currencyExponent, defaultCountry: defaultCountry ?? null };
}

function toSettings(row: ProviderValues, basePlans: BasePlans): ProviderSettings {
  const { timeZone, currencyExponent, defaultCountry: country } = row;
  const settings = { zone: createZone(timeZone), currencyExponent, basePlans };
  if (country === null) return settings;
  return { ...settings, defaultCountry: country, normaliseMobile: mobileNumbersOf(country) };
}

/** Whether anything was ever added; and whether that is something to which the settings give a meaning. */
type Filling = "new" | "begun" | "filled";

function chooseProvider(stored: ProviderValues | undefined, wishes: ProviderWishes, filling: Filling): ProviderValues {
  if (wishes.mustBeNew === true && filling !== "new")
    throw new StoreRefused("the database to fill is not empty: give one to which nothing was added yet");
  const given = stored ?? DEFAULTS;
  const chosen = {
    timeZone: wishes.timeZone ?? given.timeZone,
    currencyExponent: wishes.currencyExponent ?? given.currencyExponent,
    defaultCountry: wishes.defaultCountry ?? given.defaultCountry,
  };
  if (stored !== undefined && (filling === "filled" || wishes.mustExist === true)) refuseChange(stored, chosen);
  return chosen;
}

function refuseChange(stored: ProviderValues, chosen: ProviderValues): void {
  for (const [column, setting] of SETTINGS) {
    if (stored[column] === chosen[column]) continue;
    const filledWith = stored[column] ?? "none";
    throw new SettingsRefused(`${setting} is ${chosen[column]}, but the database was filled with ${filledWith}`);
  }
}

const SETTINGS = [
  ["timeZone", "--time-zone (TOPUPD_TIME_ZONE)"],
  ["currencyExponent", "--currency-exponent (TOPUPD_CURRENCY_EXPONENT)"],
  ["defaultCountry", "--default-country (TOPUPD_DEFAULT_COUNTRY)"],
] as const;

function isSameProvider(a: ProviderValues, b: ProviderValues): boolean {
  return SETTINGS.every(([column]) => a[column] === b[column]);
}

function readProvider(db: Kysely<Tables>): Promise<ProviderValues | undefined> {
  return db.selectFrom("provider").selectAll().executeTakeFirst();
}

/** Every change by staff leaves an entry in the audit trail. */
async function findFilling(db: Kysely<Tables>): Promise<Filling> {
  const hasRows = async (table: "customer" | "catalogueRevision" | "auditEntry") =>
    (await db
      .selectFrom(table)
      .select((eb) => eb.lit(1).as("one"))
      .limit(1)
      .executeTakeFirst()) !== undefined;
  if ((await hasRows("customer")) || (await hasRows("catalogueRevision"))) return "filled";
  return (await hasRows("auditEntry")) ? "begun" : "new";
}

import type { Kysely } from "kysely";
import type { BasePlans } from "../domain/catalogue.ts";
import { CHECKOUT_KEY_BYTES } from "../domain/checkout.ts";
import { mobileNumbersOf } from "../domain/names.ts";
import { createZone, type Instant } from "../domain/wall-time.ts";
import type { Engine } from "./engine.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "./errors.ts";
import type { ProviderSettings } from "./store.ts";
import type { ProviderRow, Tables } from "./tables.ts";

/** The operator's settings. An undefined setting is taken from the database, or else is the default. */
export interface ProviderWishes {
  readonly timeZone: string | undefined;
  readonly currencyExponent: number | undefined;
  readonly defaultCountry?: string | undefined;
  readonly basePlans: BasePlans;
  readonly monthsAhead?: number | undefined;
  /** Refuses to create a database, to migrate it and to change its settings. */
  readonly mustExist?: boolean;
  /** Refuses a database that ever had data. */
  readonly mustBeNew?: boolean;
}

const DEFAULTS = { timeZone: "UTC", currencyExponent: 2, defaultCountry: null };

/**
 * Reads or sets the provider's settings while the store opens.
 * @throws SettingsRefused if the operator's settings differ from those that the database was filled with.
 * @throws StoreRefused if the database must be new and is not.
 */
export async function settleProvider(engine: Engine, wishes: ProviderWishes): Promise<ProviderSettings> {
  const choose = async (db: Kysely<Tables>) => {
    const stored = await readProvider(db);
    const row = chooseProvider(stored, wishes, await findFilling(db));
    return { row, isStored: stored !== undefined && isSameProvider(stored, row) };
  };
  const found = await choose(engine.db);
  if (found.isStored) return toSettings(found.row, wishes);
  const settled = await engine.change(async (tx) => {
    const { row, isStored } = await choose(tx);
    if (!isStored) await putOnlyRow(tx, "provider", row);
    return row;
  });
  return toSettings(settled, wishes);
}

/** Creates the first checkout secret while the store opens. All processes share the secrets. */
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
 * Checks that no other process has changed the settings while the database was empty. Must be called inside a transaction
 * that reads a catalogue or fills the database.
 * @throws StoreUnavailable if the settings of this process are outdated.
 */
export async function verifyProvider(tx: Kysely<Tables>, settings: ProviderSettings): Promise<void> {
  refuseOtherProvider(await readProvider(tx), settings);
}

/** Checks the settings of a row; undefined means that there is no row. */
export function refuseOtherProvider(stored: ProviderValues | undefined, settings: ProviderSettings): void {
  if (stored !== undefined && isSameProvider(stored, providerValues(settings))) return;
  throw new StoreUnavailable("another process has changed time zone, currency exponent or country: restart this one");
}

/** The E.164 form of a mobile number, for its column. */
export function e164Of(mobile: string | undefined, { normaliseMobile }: ProviderSettings): string | null {
  return (mobile === undefined ? undefined : normaliseMobile?.(mobile)) ?? null;
}

/** The codes that find a customer: the text itself and, if it is a mobile number, its E.164 form. */
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

function toSettings(row: ProviderValues, { basePlans, monthsAhead }: ProviderWishes): ProviderSettings {
  const { timeZone, currencyExponent, defaultCountry: country } = row;
  const settings = { zone: createZone(timeZone), currencyExponent, basePlans, monthsAhead };
  if (country === null) return settings;
  return { ...settings, defaultCountry: country, normaliseMobile: mobileNumbersOf(country) };
}

/** `begun`: something was added, but no customer or catalogue, whose times and amounts would fix the settings. */
type Filling = "new" | "begun" | "filled";

function chooseProvider(stored: ProviderValues | undefined, wishes: ProviderWishes, filling: Filling): ProviderValues {
  if (wishes.mustBeNew === true && filling !== "new")
    throw new StoreRefused("the database to fill is not empty: name a new, empty one");
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

/** Finds changes by staff too, because each has an audit entry. */
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

type OnlyRowTable = "provider" | "retention" | "endsTold" | "checkPassed" | "backupTaken";

/** Inserts or replaces the row of a one-row table. */
export async function putOnlyRow<Table extends OnlyRowTable>(
  tx: Kysely<Tables>,
  table: Table,
  values: Omit<Tables[Table], "onlyRow">,
): Promise<void> {
  // Kysely's types do not support a table as a parameter.
  const db = tx as unknown as Kysely<Record<OnlyRowTable, { onlyRow: 1 }>>;
  await db
    .insertInto(table as OnlyRowTable)
    .values({ onlyRow: 1, ...values })
    .onConflict((on) => on.column("onlyRow").doUpdateSet(values))
    .execute();
}

/** History is complete from this time on; undefined if nothing was ever deleted. */
export async function readHorizon(db: Kysely<Tables>): Promise<Instant | undefined> {
  return (await db.selectFrom("retention").select("prunedBefore").executeTakeFirst())?.prunedBefore;
}

import type { Instant } from "../../domain/calendar.ts";
import {
  chooseProviderSettings,
  FILLING,
  type Filling,
  isProviderRow,
  type ProviderRow,
  type ProviderWishes,
  toProviderSettings,
  verifyProviderRow,
} from "../common/provider-settings.ts";
import { rulesOnRecord, ZONE_RULES, type ZoneRulesRow } from "../common/zone-rules.ts";
import type { ProviderSettings } from "../store.ts";
import type { Prepared, Query, Session } from "./session/session.ts";

const READ: Prepared = {
  name: "provider",
  text: "SELECT time_zone, currency_exponent, default_country FROM provider",
};
const LOCK: Prepared = { name: "provider_lock", text: `${READ.text} FOR UPDATE` };
const SHARE: Prepared = { name: "provider_share", text: `${READ.text} FOR SHARE` };
const HOW_FILLED: Prepared = { name: "filling", text: FILLING };
const PUT: Prepared = {
  name: "provider_put",
  text: `INSERT INTO provider (only_row, time_zone, currency_exponent, default_country) VALUES (true, $1, $2, $3)
    ON CONFLICT (only_row) DO UPDATE SET time_zone = $1, currency_exponent = $2, default_country = $3`,
};
const RULES: Prepared = { name: "zone_rules", text: ZONE_RULES };
const PUT_RULES: Prepared = {
  name: "zone_rules_put",
  text: "INSERT INTO zone_rules (since, time_zone, rules) VALUES ($1, $2, $3)",
};

/** Reads the settings as they are. For whoever is about to give a stored price or date a meaning. */
export const READ_PROVIDER: Query = [READ];
/** First in a transaction that only reads, where all that it reads must be of one moment. */
export const ONE_VIEW: Query = [
  { name: "one_view", text: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY" },
];
/** Reads the settings, which stay what they are until the transaction ends. */
export const HOLD_PROVIDER: Query = [SHARE];

/**
 * The settings, unless they are still to be written; and whether the rules of their zone are noted.
 * @throws StoreRefused as {@link settleProviderSettings}.
 */
export async function findProviderSettings(
  session: Session,
  wishes: ProviderWishes,
  now: Instant,
): Promise<{ readonly provider: ProviderSettings; readonly areRulesNoted: boolean } | undefined> {
  const { stored, settings, news } = await chooseSettings(session, READ, wishes, now);
  return isProviderRow(stored, settings) ? { provider: settings, areRulesNoted: news === undefined } : undefined;
}

/**
 * To be called inside a transaction that holds the lock of opening.
 * @throws StoreRefused where the operator asks for other settings than the database was filled with.
 */
export async function settleProviderSettings(
  session: Session,
  wishes: ProviderWishes,
  now: Instant,
): Promise<ProviderSettings> {
  // How it is filled is asked once the row is held: whoever fills the database holds it too.
  const { stored, chosen, settings, news } = await chooseSettings(session, LOCK, wishes, now);
  if (!isProviderRow(stored, settings))
    await session.run(PUT, [chosen.time_zone, chosen.currency_exponent, chosen.default_country]);
  if (news !== undefined) await session.run(PUT_RULES, [news.since, news.time_zone, news.rules]);
  return settings;
}

async function chooseSettings(session: Session, read: Prepared, wishes: ProviderWishes, now: Instant) {
  const [stored] = await session.run<ProviderRow>(read);
  const [{ filling }] = (await session.run<{ filling: Filling }>(HOW_FILLED)) as [{ filling: Filling }];
  const chosen = chooseProviderSettings(stored, wishes, filling);
  const { record, news } = rulesOnRecord(await session.run<ZoneRulesRow>(RULES), chosen.time_zone, now);
  return { stored, chosen, settings: toProviderSettings(chosen, record), news };
}

/** @throws StoreUnavailable where another process has changed them while the database was empty. */
export function verifyProvider(rows: readonly unknown[], settings: ProviderSettings): void {
  verifyProviderRow(rows[0] as ProviderRow, settings);
}

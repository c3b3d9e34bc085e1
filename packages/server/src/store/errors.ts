/**
 * The database could not be reached, or not in time. It is unknown whether a write happened: look it up, never assume it.
 * The message is logged as the cause, so it must contain no stored or sent data.
 */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** Rows stayed locked too long, or too many requests wait. Nothing was written. Other waiting requests may succeed. */
export class StoreContended extends StoreUnavailable {
  override readonly name = "StoreContended";
}

/**
 * The database can be reached, but topupd does not accept it: it is not durable, not topupd's, newer than this program, or
 * has other settings. The message says why and what to do.
 */
export class StoreRefused extends Error {
  override readonly name: string = "StoreRefused";
}

/** Continues a sentence about a database or backup of a development version. */
export const MADE_BEFORE_RELEASE = "was made before the first release of topupd and cannot be opened";

/** The caller's log-in or API key has ended, or the role has changed. Nothing was written. */
export class RightsEnded extends Error {
  override readonly name = "RightsEnded";

  constructor() {
    super("the log-in or the key has ended, or the role has changed");
  }
}

/** The time zone, currency exponent or country differs from the one the database was filled with. No retry helps. */
export class SettingsRefused extends StoreRefused {
  override readonly name = "SettingsRefused";
}

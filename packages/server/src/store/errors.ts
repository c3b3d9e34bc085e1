/**
 * The database could not be reached, or not in time. Whether a write happened is not known:
 * it must be looked up, never assumed. The message is logged as the cause: it says nothing of what is stored or was sent.
 */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** Others held for too long what was to be written, or too many wait, and nothing was. It says nothing of what else waits. */
export class StoreContended extends StoreUnavailable {
  override readonly name = "StoreContended";
}

/**
 * The database can be reached, but topupd will not work with it: it is not durable, not topupd's, newer
 * than this program, or was made with other settings. The message tells the operator which, and what to do.
 */
export class StoreRefused extends Error {
  override readonly name: string = "StoreRefused";
}

/** The log-in or key of whoever asked has ended, or their role has changed. Nothing was written. */
export class RightsEnded extends Error {
  override readonly name = "RightsEnded";

  constructor() {
    super("the log-in or the key has ended, or the role has changed");
  }
}

/** Another time zone, currency exponent or country was asked for than the database was filled with: no retry helps. */
export class SettingsRefused extends StoreRefused {
  override readonly name = "SettingsRefused";
}

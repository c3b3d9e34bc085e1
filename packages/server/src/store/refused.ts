/**
 * The database can be read, but topupd will not work with it: it is not durable, not topupd's, newer
 * than this program, or was made with other settings. The message tells the operator which and what to do.
 */
export class StoreRefused extends Error {
  override readonly name = "StoreRefused";
}

/**
 * The database could not be reached, or not in time. Whether a write happened is not known:
 * it must be looked up, never assumed.
 */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

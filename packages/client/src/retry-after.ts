/** Nobody means more: and who set a timer to it might wake at once, or in a year. */
const LONGEST_MS = 600_000;

/**
 * How long to wait by a Retry-After, in milliseconds, ten minutes at most: it holds seconds, or the date of an HTTP header (RFC 9110).
 *
 * @param now milliseconds since 1970.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value.trim())) return Math.min(LONGEST_MS, Number(value) * 1_000);
  // The only dates of HTTP are in GMT; anything else might be read in the local zone.
  if (!/^[A-Z][a-z]{2,8}, .*GMT$/.test(value.trim())) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.min(LONGEST_MS, Math.max(0, at - now));
}

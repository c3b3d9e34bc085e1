export type JsonObject = { readonly [key: string]: unknown };

/** Words of the interface and of topupd that may be shown. Any other text may be personal. */
const KNOWN_WORDS: ReadonlySet<string> = new Set(
  "true false active inactive success reversed tv internet iptv fix_request same_request new_checkout query_status no".split(
    " ",
  ),
);
const KNOWN_KEYS: ReadonlySet<string> = new Set(
  (
    "success code body customer connection connections tv internet iptv cuid first_name last_name status stb username " +
    "checkoutId subscriptions bouquets name price amt startdate enddate result orderId txnId reqId bouquetId txnDate " +
    "service reason message retry requestId fields"
  ).split(" "),
);
const RESULT_CODE = /^\d{3}[a-z]{2}\d{3}$/;
const SHOWN_LENGTH = 24;

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The object's own value, never an inherited one: the service may be hostile. */
export function member(value: unknown, key: string): unknown {
  const object = asObject(value);
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** An identifier as text. A wrong number is accepted too, so that later checks can continue. */
export function asText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value of databases for no date. It has the right form. */
const NO_DATE = "0000-00-00 00:00:00";

/** Whether it is an existing date and time, or {@link NO_DATE}, in the form `YYYY-MM-DD HH:MM:SS`. */
export function isTimestamp(value: unknown): value is string {
  if (value === NO_DATE) return true;
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)) return false;
  const iso = `${value.replace(" ", "T")}.000Z`;
  const time = Date.parse(iso);
  return !Number.isNaN(time) && new Date(time).toISOString() === iso;
}

/** Describes the kind of a value without quoting it: it may be personal or secret. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return "a number";
  if (typeof value === "string") return describeText(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const keys = Object.keys(value as object);
  const known = keys.filter((key) => KNOWN_KEYS.has(key)).slice(0, KNOWN_KEYS.size);
  const others = keys.length - known.length;
  if (keys.length === 0) return "an empty object";
  if (known.length === 0) return `an object with ${others} unknown keys`;
  return `an object with ${known.join(", ")}${others === 0 ? "" : ` and ${others} unknown keys`}`;
}

/** The same for a result code: a well-formed code is shown. */
export function describeCode(value: unknown): string {
  return typeof value === "string" && RESULT_CODE.test(value) ? `the string "${value}"` : describe(value);
}

/** A text as its pattern: each letter as `a`, each digit as `9`. */
function describeText(text: string): string {
  if (text === "") return "an empty string";
  if (KNOWN_WORDS.has(text)) return `the string "${text}"`;
  const pattern = text
    .slice(0, SHOWN_LENGTH)
    .replace(/\p{L}/gu, "a")
    .replace(/\p{N}/gu, "9")
    .replace(/[^a9 ()[\].,:;/@+_-]/g, "?");
  return `a string like "${pattern}${text.length > SHOWN_LENGTH ? "..." : ""}"`;
}

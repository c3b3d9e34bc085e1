import { Type } from "typebox";
import { sealingSecret } from "../../domain/checkout.ts";
import { CURSOR_NONCE_BYTES, type CursorOwner, openCursor, sealCursor } from "../../domain/cursor.ts";
import { FieldReader, type Reading } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import { settledRange } from "../../domain/settlement.ts";
import type { OwnDays } from "../../store/own-pages.ts";
import { momentOf } from "../../store/ports.ts";
import { readHorizon } from "../../store/settings.ts";
import type { Ports } from "../ports.ts";

/** The days of a list, and the place where the asked page begins. */
interface Period<Place> {
  readonly days: OwnDays;
  /** Undefined for the first page. */
  readonly place: Place | undefined;
}

const DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
const CURSOR_MAX_LENGTH = 1_000;

export const PERIOD_PARAMETERS = {
  from: Type.String({ pattern: DAY, description: "The first day, of the provider's clock. Default: that of `to`." }),
  to: Type.String({ pattern: DAY, description: "The last day. Default: today." }),
  cursor: Type.String({ maxLength: CURSOR_MAX_LENGTH, description: "`next` of the previous page. It keeps the days." }),
};

/** Makes the cursor of the next page. */
export async function writeCursor(
  { store, clock, random }: Ports,
  owner: CursorOwner,
  { from, to }: OwnDays,
  place: unknown,
): Promise<string> {
  const secret = sealingSecret(await store.checkoutSecrets(), clock());
  return sealCursor(secret, owner, { from, to, place }, random(CURSOR_NONCE_BYTES));
}

/** Reads the query of a list. Its cursors have places of the type that {@link writeCursor} got. */
export async function readPeriod<Place>(
  ports: Ports,
  owner: CursorOwner,
  query: JsonObject,
): Promise<Reading<Period<Place>>> {
  const { zone } = ports.store.provider;
  const fields = new FieldReader(query);
  const read = (name: keyof typeof PERIOD_PARAMETERS) =>
    Array.isArray(query[name])
      ? fields.problem(name, "must be sent once")
      : fields.optionalText(name, { maxLength: CURSOR_MAX_LENGTH });
  const cursor = read("cursor");
  const opened = cursor === undefined ? undefined : openCursor(await ports.store.checkoutSecrets(), owner, cursor);
  const continued = opened as { readonly from: string; readonly to: string; readonly place: Place } | undefined;
  if (cursor !== undefined && continued === undefined) fields.problem("cursor", "must be next of a page of this list");

  const day = (name: "from" | "to", fallback: string) => {
    const given = read(name);
    const text = continued?.[name] ?? given ?? fallback;
    if (given !== undefined && given !== text) fields.problem(name, "must be the same for all pages");
    const range = settledRange(text, zone);
    if (range === undefined) fields.problem(name, "must be a day such as 2026-11-20");
    return { text, range };
  };
  const today = momentOf(ports).wall.slice(0, 10);
  const to = day("to", today);
  const from = day("from", to.range === undefined ? today : to.text);
  if (from.range !== undefined && to.range !== undefined) {
    if (from.text > to.text) fields.problem("to", "must not be before from");
    const horizon = await readHorizon(ports.store.engine.db);
    const deleted = horizon === undefined ? "" : zone.wallTime(horizon - 1).slice(0, 10);
    if (from.text <= deleted) fields.problem("from", `must be after ${deleted}: older history was deleted`);
  }
  return fields.finish({ days: { from: from.text, to: to.text }, place: continued?.place });
}

/** Later days have no items, and each would be an empty page. */
export function untilToday({ from, to }: OwnDays, today: string): OwnDays {
  return { from, to: to < today ? to : today };
}

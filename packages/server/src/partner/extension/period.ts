import { Type } from "typebox";
import { sealingSecret } from "../../domain/checkout.ts";
import { CURSOR_NONCE_BYTES, type CursorOwner, openCursor, sealCursor } from "../../domain/cursor.ts";
import { FieldReader, type Reading } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import { settledRange } from "../../domain/settlement.ts";
import type { OwnDays, OwnReference } from "../../store/own-pages.ts";
import { momentOf } from "../../store/ports.ts";
import { readHorizon } from "../../store/settings.ts";
import type { Ports } from "../ports.ts";
import { FREE_FIELD_MAX_LENGTH } from "../requests.ts";

/** What a list is of, and the place where the asked page begins. */
interface Asked<Of, Place> {
  readonly of: Of;
  /** Undefined for the first page. */
  readonly place: Place | undefined;
}

const DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
const CURSOR_MAX_LENGTH = 1_000;

export const PERIOD_PARAMETERS = {
  from: Type.String({ pattern: DAY, description: "The first day, of the provider's clock. Default: that of `to`." }),
  to: Type.String({ pattern: DAY, description: "The last day. Default: today." }),
  cursor: Type.String({
    maxLength: CURSOR_MAX_LENGTH,
    description: "`next` of the previous page. It keeps the other parameters.",
  }),
};

export const REFERENCE_PARAMETER = {
  udf1: Type.String({
    minLength: 1,
    maxLength: FREE_FIELD_MAX_LENGTH,
    description: "The `udf1` of your top-up. Finds it on any day: `from` and `to` must be left out.",
  }),
};

/** Makes the cursor of the next page. */
export async function writeCursor<Of, Place>(
  { store, clock, random }: Ports,
  owner: CursorOwner,
  asked: Asked<Of, Place>,
): Promise<string> {
  const secret = sealingSecret(await store.checkoutSecrets(), clock());
  return sealCursor(secret, owner, asked, random(CURSOR_NONCE_BYTES));
}

/**
 * Reads the query of a list. Its cursors have places of the type that {@link writeCursor} got. A list without the parameter
 * `udf1` is always of days.
 */
export async function readPeriod<Place, Of extends OwnDays | OwnReference = OwnDays>(
  ports: Ports,
  owner: CursorOwner,
  query: JsonObject,
): Promise<Reading<Asked<Of, Place>>> {
  const fields = new FieldReader(query);
  const read = (name: string, maxLength = CURSOR_MAX_LENGTH) =>
    Array.isArray(query[name]) ? fields.problem(name, "must be sent once") : fields.optionalText(name, { maxLength });
  const cursor = read("cursor");
  const continued = cursor === undefined ? undefined : await openPage<Place>(ports, owner, fields, cursor);
  const readSame = (name: "from" | "to" | "udf1", maxLength?: number) => {
    const given = read(name, maxLength);
    if (continued === undefined) return given;
    if (given !== undefined && given !== continued.of[name]) fields.problem(name, "must be the same for all pages");
    return continued.of[name];
  };
  const udf1 = readSame("udf1", FREE_FIELD_MAX_LENGTH);
  const days = { to: readSame("to"), from: readSame("from") };
  const asked = (of: OwnDays | OwnReference) => fields.finish({ of: of as Of, place: continued?.place });
  if (udf1 === undefined) return asked(await readDays(ports, fields, days));
  if (days.from !== undefined || days.to !== undefined) fields.problem("udf1", "must be sent without from and to");
  return asked({ udf1 });
}

/** What the previous page of a list was of, and the place where this one begins. */
async function openPage<Place>({ store }: Ports, owner: CursorOwner, fields: FieldReader, cursor: string) {
  const opened = openCursor(await store.checkoutSecrets(), owner, cursor);
  if (opened === undefined) return fields.problem("cursor", "must be next of a page of this list");
  return opened as Asked<Partial<OwnDays & OwnReference>, Place>;
}

/** Reads the days of a list: one day if `from` is missing, today if both are. */
async function readDays(
  ports: Ports,
  fields: FieldReader,
  given: { readonly from: string | undefined; readonly to: string | undefined },
): Promise<OwnDays> {
  const { zone } = ports.store.provider;
  const readRange = (name: "from" | "to", text: string) => {
    const range = settledRange(text, zone);
    if (range === undefined) fields.problem(name, "must be a day such as 2026-11-20");
    return range;
  };
  const today = momentOf(ports).wall.slice(0, 10);
  const to = given.to ?? today;
  const end = readRange("to", to);
  const from = given.from ?? (end === undefined ? today : to);
  const begin = readRange("from", from);
  if (begin === undefined || end === undefined) return { from, to };
  if (from > to) fields.problem("to", "must not be before from");
  const horizon = await readHorizon(ports.store.engine.db);
  const deleted = horizon === undefined ? "" : zone.wallTime(horizon - 1).slice(0, 10);
  if (from <= deleted) fields.problem("from", `must be after ${deleted}: older history was deleted`);
  return { from, to };
}

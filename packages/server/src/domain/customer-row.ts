import type { FindBouquet, Service } from "./bouquet.ts";
import {
  type BareConnection,
  CONNECTION_TEXTS,
  type ConnectionStatus,
  type ConnectionTexts,
  type CustomerProfile,
  type WireStatus,
} from "./customer.ts";
import { FieldReader, IDENTIFIER_MAX_LENGTH, LABEL, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { GOODWILL_READINGS, type GoodwillReading } from "./ledger.ts";
import { foldName } from "./names.ts";
import type { StatedSubscription } from "./subscription.ts";
import { isWallTime, type WallTime } from "./wall-time.ts";
import { isPlaceholder, isWrittenNumber } from "./written-value.ts";

const WIRE_STATUSES: readonly WireStatus[] = ["active", "inactive"];
const CONNECTION_STATUSES: readonly ConnectionStatus[] = ["active", "inactive", "blocked"];

/** One customer in a provider's file. */
export interface StatedCustomer extends CustomerProfile {
  /** `asOf` of the row, not parsed; undefined means that of the whole file. */
  readonly asOf: string | undefined;
  /** Whether the records contain goodwill; undefined if unknown. */
  readonly goodwill: GoodwillReading | undefined;
  readonly connections: readonly StatedConnection[];
}

export interface StatedConnection extends Omit<BareConnection, "blocked"> {
  /** Undefined if the row has no such field: stored subscriptions then stay. */
  readonly subscriptions: readonly StatedSubscription[] | undefined;
}

/** Data that rows are read with. */
export interface RowContext {
  /** Finds the newest definition of a code in any revision, since old subscriptions name retired bouquets. */
  readonly findBouquet: FindBouquet;
  /** Default for rows without the field. */
  readonly goodwill?: GoodwillReading | undefined;
}

/** `cuid`: customer id of the row; empty if it is missing or wrong. */
type CustomerContext = RowContext & { readonly cuid: string };

/**
 * Reads one row of a customers file: `{"cuid", "first_name", "last_name", "mobile"?, "status", "area"?, "asOf"?,
 * "goodwill"?, "connections": {"tv": [...], "internet": [...], "iptv": [...]}}`. A set-top box has the field `stb`, other
 * connections `username`.
 */
export function readCustomerRow(row: JsonObject, context: RowContext): Reading<StatedCustomer> {
  const fields = new FieldReader(row);
  const cuid = fields.statedIdentifier("cuid");
  const firstName = fields.text("first_name", { maxLength: NAME_MAX_LENGTH, mayBeEmpty: true });
  const lastName = fields.text("last_name", { maxLength: NAME_MAX_LENGTH, mayBeEmpty: true });
  const mobile = placeholderMobile(row) === undefined ? readMobile(fields) : void fields.has("mobile");
  const status = fields.oneOf("status", WIRE_STATUSES);
  const area = fields.has("area") ? fields.text("area", { ...LABEL, mayBeEmpty: true }) : undefined;
  const asOf = fields.optionalText("asOf", { maxLength: IDENTIFIER_MAX_LENGTH });
  const goodwill = fields.has("goodwill") ? fields.oneOf("goodwill", GOODWILL_READINGS) : context.goodwill;
  const its = { ...context, cuid };
  const connections = fields.object("connections", (services) => [
    ...readConnections(services, "tv", "stb", its),
    ...readConnections(services, "internet", "username", its),
    ...readConnections(services, "iptv", "username", its),
  ]);
  fields.refuseOthers();
  const records = { asOf, goodwill, connections: connections ?? [] };
  return fields.finish({
    cuid,
    firstName,
    lastName,
    mobile,
    status,
    area: area !== undefined && isPlaceholder(area) ? "" : area,
    ...records,
  });
}

/** The mobile number of a row if it is a placeholder, which reads as none. */
export function placeholderMobile({ mobile }: JsonObject): string | undefined {
  return typeof mobile === "string" && isPlaceholder(mobile) ? mobile : undefined;
}

/** The problem does not name the number of a person. */
function readMobile(fields: FieldReader): string | undefined {
  const mobile = fields.optionalText("mobile", { maxLength: IDENTIFIER_MAX_LENGTH, isTight: true });
  if (mobile === undefined || !isWrittenNumber(mobile)) return mobile;
  return fields.problem(
    "mobile",
    "is a number that a spreadsheet or another program has changed: make the column text",
  );
}

function readConnections(
  services: FieldReader,
  service: Service,
  idField: string,
  context: CustomerContext,
): StatedConnection[] {
  const seen = new Set<string>();
  return services.objects(service, (fields) => {
    const reqId = fields.statedIdentifier(idField);
    const name = foldName(reqId);
    if (reqId !== "" && seen.has(name))
      fields.problem(idField, "stands twice in this customer, or differs only by case or accents from another");
    seen.add(name);
    const status = fields.oneOf("status", CONNECTION_STATUSES);
    const texts = Object.fromEntries(CONNECTION_TEXTS.map((name) => [name, fields.optionalText(name, LABEL)]));
    const subscriptions = fields.has("subscriptions") ? readSubscriptions(fields, service, context) : undefined;
    return { service, reqId, status, ...(texts as ConnectionTexts<string | undefined>), subscriptions };
  });
}

function readSubscriptions(connection: FieldReader, service: Service, context: CustomerContext): StatedSubscription[] {
  const plans = new Set<string>();
  const read = connection.objects("subscriptions", (fields) => readSubscription(fields, service, context, plans));
  return read.filter((subscription) => subscription !== undefined);
}

/** @param plans of the connection's subscriptions before this one. Its plan is added. */
function readSubscription(
  fields: FieldReader,
  service: Service,
  context: CustomerContext,
  plans: Set<string>,
): StatedSubscription | undefined {
  const code = fields.statedIdentifier("code");
  const start = readTimestamp(fields, "startdate");
  const end = readTimestamp(fields, "enddate");
  // Exports have this field; the ledger already knows its value.
  fields.has("goodwillDays");
  const bouquet = code === "" ? undefined : readBouquet(fields, service, code, context);
  if (bouquet === undefined || start === undefined || end === undefined) return undefined;
  if (end <= start) return fields.problem("enddate", "must be later than startdate");
  const { plan, name, addOn, period } = bouquet;
  if (plans.has(plan)) return fields.problem("code", "belongs to a plan that this connection has twice");
  plans.add(plan);
  const unit: StatedSubscription["unit"] = period.months > 0 ? "month" : "day";
  return { plan, bouquet: { code, name, addOn }, start, end, unit };
}

function readBouquet(fields: FieldReader, service: Service, code: string, { findBouquet, cuid }: CustomerContext) {
  const bouquet = findBouquet(service, code);
  if (bouquet !== undefined) return bouquet;
  const whose = cuid === "" ? "" : `, of customer ${cuid}`;
  return fields.problem("code", `is not the code of any ${service} bouquet imported so far: ${code}${whose}`);
}

function readTimestamp(fields: FieldReader, name: string): WallTime | undefined {
  const text = fields.identifier(name);
  if (text === "" || isWallTime(text)) return text === "" ? undefined : text;
  return fields.problem(name, "must be a date and time in the form YYYY-MM-DD HH:MM:SS");
}

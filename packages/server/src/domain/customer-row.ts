import type { FindBouquet, Service } from "./bouquet.ts";
import { foldName } from "./connection-name.ts";
import type { ConnectionStatus, CustomerProfile, WireStatus } from "./customer.ts";
import { FieldReader, IDENTIFIER_MAX_LENGTH, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { GOODWILL_READINGS, type GoodwillReading } from "./ledger.ts";
import type { StatedSubscription } from "./subscription.ts";
import { isWallTime, type WallTime } from "./wall-time.ts";

const WIRE_STATUSES: readonly WireStatus[] = ["active", "inactive"];
const CONNECTION_STATUSES: readonly ConnectionStatus[] = ["active", "inactive", "blocked"];

/** What a provider's file says of one customer. */
export interface StatedCustomer extends CustomerProfile {
  /** As the row says it, unread; undefined where the file's own holds. */
  readonly asOf: string | undefined;
  /** How its records treat goodwill; undefined where nobody said it. */
  readonly goodwill: GoodwillReading | undefined;
  readonly connections: readonly StatedConnection[];
}

export interface StatedConnection {
  readonly service: Service;
  readonly reqId: string;
  readonly status: ConnectionStatus;
  readonly segment: string | undefined;
  /** Undefined where the row says nothing of them: they stay as they are. */
  readonly subscriptions: readonly StatedSubscription[] | undefined;
}

/** What a customer's row is read against. */
export interface RowContext {
  /** The newest definition of a code, from whichever revision has it: old subscriptions name retired bouquets. */
  readonly findBouquet: FindBouquet;
  /** Of rows that do not say it. */
  readonly goodwill?: GoodwillReading | undefined;
}

/** As spreadsheets and data frames write a number in a column that has gaps. */
const DECIMAL = /^[0-9]+\.0$/;

/** `cuid`: of the row; empty where it has none that is good. */
type CustomerContext = RowContext & { readonly cuid: string };

/**
 * Reads one row of a customers file: `{"cuid", "first_name", "last_name", "mobile"?, "status", "asOf"?,
 * "goodwill"?, "connections": {"tv": [...], "internet": [...], "iptv": [...]}}`, where a set-top box is named by
 * `stb` and the other connections by `username`.
 */
export function readCustomerRow(row: JsonObject, context: RowContext): Reading<StatedCustomer> {
  const fields = new FieldReader(row);
  const cuid = fields.statedIdentifier("cuid");
  const firstName = fields.text("first_name", { maxLength: NAME_MAX_LENGTH, mayBeEmpty: true });
  const lastName = fields.text("last_name", { maxLength: NAME_MAX_LENGTH, mayBeEmpty: true });
  const mobile = fields.optionalStatedIdentifier("mobile");
  if (mobile !== undefined && DECIMAL.test(mobile))
    fields.problem("mobile", "ends with .0: it was made a number on its way, so export it as a text");
  const status = fields.oneOf("status", WIRE_STATUSES);
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
  return fields.finish({ cuid, firstName, lastName, mobile, status, ...records });
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
    const segment = fields.optionalStatedIdentifier("segment");
    const subscriptions = fields.has("subscriptions") ? readSubscriptions(fields, service, context) : undefined;
    return { service, reqId, status, segment, subscriptions };
  });
}

function readSubscriptions(connection: FieldReader, service: Service, context: CustomerContext): StatedSubscription[] {
  const plans = new Set<string>();
  const read = connection.objects("subscriptions", (fields) => {
    const code = fields.statedIdentifier("code");
    const start = readTimestamp(fields, "startdate");
    const end = readTimestamp(fields, "enddate");
    // An export has it; the ledger knows it.
    fields.has("goodwillDays");
    const bouquet = code === "" ? undefined : context.findBouquet(service, code);
    if (code !== "" && bouquet === undefined) {
      const whose = context.cuid === "" ? "" : `, of customer ${context.cuid}`;
      fields.problem("code", `is not the code of any ${service} bouquet imported so far: ${code}${whose}`);
    }
    if (bouquet === undefined || start === undefined || end === undefined) return undefined;
    if (end <= start) return fields.problem("enddate", "must be later than startdate");
    const { plan, name, addOn, period } = bouquet;
    if (plans.has(plan)) return fields.problem("code", "belongs to a plan that this connection has twice");
    plans.add(plan);
    const unit: StatedSubscription["unit"] = period.months > 0 ? "month" : "day";
    return { plan, bouquet: { code, name, addOn }, start, end, unit };
  });
  return read.filter((subscription) => subscription !== undefined);
}

function readTimestamp(fields: FieldReader, name: string): WallTime | undefined {
  const text = fields.identifier(name);
  if (text === "" || isWallTime(text)) return text === "" ? undefined : text;
  return fields.problem(name, "must be a date and time in the form YYYY-MM-DD HH:MM:SS");
}

import type { Bouquet, Service } from "./bouquet.ts";
import type { Calendar, Instant, Span } from "./calendar.ts";
import { type CarriedRun, readCarried } from "./carried-run.ts";
import type { ConnectionStatus, CustomerProfile, WireStatus } from "./customer.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { type BouquetLabel, importedSpan } from "./subscription.ts";

const WIRE_STATUSES: readonly WireStatus[] = ["active", "inactive"];
const CONNECTION_STATUSES: readonly ConnectionStatus[] = ["active", "inactive", "blocked"];

/** What a provider's file says of one customer. */
export interface StatedCustomer extends CustomerProfile {
  readonly connections: readonly StatedConnection[];
}

export interface StatedConnection {
  readonly service: Service;
  readonly reqId: string;
  readonly status: ConnectionStatus;
  readonly segment: string | undefined;
  /** Of an export: whether something was granted there since it was imported as inactive. */
  readonly toppedUp?: boolean;
  /** Of an export: whether staff have blocked it there. */
  readonly blocked?: boolean;
  readonly subscriptions: readonly StatedSubscription[];
}

export interface StatedSubscription {
  readonly plan: string;
  readonly bouquet: BouquetLabel;
  readonly start: Instant;
  readonly end: Instant;
  readonly span: Span;
  /** Of an export, where its dates alone would not tell all of the run. */
  readonly carried?: CarriedRun | undefined;
}

/** What a customer's row is read against. */
export interface RowContext {
  readonly calendar: Calendar;
  /** The newest definition of a code, from whichever revision has it: old subscriptions name retired bouquets. */
  readonly findBouquet: (service: Service, code: string) => Bouquet | undefined;
}

/** As spreadsheets and data frames write a number in a column that has gaps. */
const DECIMAL = /^[0-9]+\.0$/;

/** `cuid`: of the row; empty where it has none that is good. */
type CustomerContext = RowContext & { readonly cuid: string };

/**
 * Reads one row of a customers file: `{"cuid", "first_name", "last_name", "mobile"?, "status",
 * "connections": {"tv": [...], "internet": [...], "iptv": [...]}}`, where a set-top box is named by
 * `stb` and the other connections by `username`. What only exports write is optional: `topped_up` and
 * `blocked_by_staff` of a connection, and `carried` of a subscription.
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
  const its = { ...context, cuid };
  const connections = fields.object("connections", (services) => [
    ...readConnections(services, "tv", "stb", its),
    ...readConnections(services, "internet", "username", its),
    ...readConnections(services, "iptv", "username", its),
  ]);
  fields.refuseOthers();
  return fields.finish({ cuid, firstName, lastName, mobile, status, connections: connections ?? [] });
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
    if (reqId !== "" && seen.has(reqId)) fields.problem(idField, "stands twice in this customer");
    seen.add(reqId);
    const status = fields.oneOf("status", CONNECTION_STATUSES);
    const segment = fields.optionalStatedIdentifier("segment");
    const [toppedUp, blocked] = [fields.flag("topped_up"), fields.flag("blocked_by_staff")];
    const subscriptions = readSubscriptions(fields, service, context);
    return { service, reqId, status, segment, toppedUp, blocked, subscriptions };
  });
}

function readSubscriptions(connection: FieldReader, service: Service, context: CustomerContext): StatedSubscription[] {
  const plans = new Set<string>();
  const read = connection.objects("subscriptions", (fields) => {
    const code = fields.statedIdentifier("code");
    const start = readTimestamp(fields, "startdate", context.calendar);
    const end = readTimestamp(fields, "enddate", context.calendar);
    const bouquet = code === "" ? undefined : context.findBouquet(service, code);
    if (code !== "" && bouquet === undefined) {
      const whose = context.cuid === "" ? "" : `, of customer ${context.cuid}`;
      fields.problem("code", `is not the code of any ${service} bouquet imported so far: ${code}${whose}`);
    }
    if (bouquet === undefined || start === undefined || end === undefined) return undefined;
    if (end <= start) return fields.problem("enddate", "must be later than startdate");
    const carried = fields.optionalObject("carried", (run) =>
      readCarried(run, { bouquet, start, end }, context.calendar),
    );
    const subscription = carried ?? {
      plan: bouquet.plan,
      bouquet: { code, name: bouquet.name, addOn: bouquet.addOn },
      ...{ start, end, span: importedSpan(start, end, bouquet.period, context.calendar) },
    };
    if (plans.has(subscription.plan)) return fields.problem("code", "belongs to a plan that this connection has twice");
    plans.add(subscription.plan);
    return subscription;
  });
  return read.filter((subscription) => subscription !== undefined);
}

function readTimestamp(fields: FieldReader, name: string, calendar: Calendar): Instant | undefined {
  const text = fields.identifier(name);
  if (text === "") return undefined;
  return calendar.parse(text) ?? fields.problem(name, "must be a date and time in the form YYYY-MM-DD HH:MM:SS");
}

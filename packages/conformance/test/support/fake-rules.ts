import { PRACTICE_CUID } from "../../src/practice.ts";
import { BOUQUETS, CONNECTIONS, CUSTOMER, FAILURES, MOBILE } from "./fake-data.ts";

/** What a request holds: whatever a client sends. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** A page is sent where it is undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: tests change answers into all kinds of things
  json: any;
  /** What is sent in place of the JSON. */
  text?: string;
  /** Ends the connection before the answer, or in its middle. */
  cut?: "before" | "within";
}

/** How the fake differs from a service that is right. */
export interface Behaviour {
  readonly isTopupd?: boolean;
  /** A used checkoutId makes another transaction, or extends once more behind the same one. */
  readonly onReuse?: "charge" | "extend";
  /** Every listing gives the same checkoutId. */
  readonly reusesCheckoutIds?: boolean;
  /** What checkoutIds look like. */
  readonly formCheckoutId?: (plain: string) => string;
  /** txn-status tells of the first top-up there ever was. */
  readonly tellsFirstTopUp?: boolean;
  /** Takes any amount. */
  readonly takesAnyAmount?: boolean;
  /** Takes a top-up for another reqId, or for another cuid, than the checkoutId was given for. */
  readonly takesAnyOther?: "reqId" | "cuid";
  /** A checkoutId that is not used yet is known in the version that has listed it, and not in the other. */
  readonly bindsToVersion?: boolean;
  /** Takes udf1 and udf2 of any length, or none of 30 characters. */
  readonly freeFieldMaxLength?: number;
  /** Takes no top-up without udf1 and udf2. */
  readonly needsBothReferences?: boolean;
  /** A repeat with other values is answered like one with the same. */
  readonly replaysAnything?: boolean;
  /** One top-up extends by two periods. */
  readonly extendsTwice?: boolean;
  /** A repeat is the same with any value of this. */
  readonly comparesNot?: "reqId" | "cuid" | "service" | "bouquetId";
  /** Takes an amount for the one that it is rounded to, or for what its exponent makes of it. */
  readonly readsAmount?: "rounded" | "with exponent";
  /** An unused checkoutId can be used for ever. */
  readonly neverExpires?: boolean;
  /** v1.0.0 knows no set-top boxes. */
  readonly isTvNew?: boolean;
  /** The internet usernames of topupd's practice customer; undefined if there is none. */
  readonly practiceNames?: readonly string[];
}

interface Subscription {
  readonly code: string;
  readonly name: string;
  readonly startdate: string;
  enddate: string;
}

type Sent = Readonly<Record<string, string>>;

export interface Rules {
  readonly run: (version: string, operation: string, fields: Fields) => Answer;
  readonly refuse: (reason: string) => Answer;
  readonly charged: () => number;
  /** Lets so many milliseconds go by. */
  readonly pass: (ms: number) => void;
}

const VALID_MS = 300_000;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20);

export function createRules(behaviour: Behaviour): Rules {
  const issued = new Map<string, string>();
  const issuedAt = new Map<string, number>();
  let now = 0;
  const results = new Map<string, Record<string, unknown>>();
  const subscriptions = new Map<string, Subscription[]>();
  let charges = 0;
  const practice = behaviour.practiceNames?.map((username) => ({ username, status: "active" }));
  if (behaviour.tellsFirstTopUp === true) results.set("older", resultOf({ ...OLDER }, 0));

  const refuse = (reason: string): Answer => {
    const [code, status, retry] = FAILURES[reason] ?? ["", 500, ""];
    if (behaviour.isTopupd !== true)
      return { status: 200, headers: {}, json: { success: false, code: "E-17", body: {} } };
    const headers: Record<string, string> = {};
    if (status === 401) headers["www-authenticate"] = "Bearer";
    if (status === 405) headers["allow"] = "POST";
    return { status, headers, json: { success: false, code, body: { reason, message: "It is refused.", retry } } };
  };

  const lookUp = (version: string, code: unknown): Answer => {
    const trimmed = behaviour.isTopupd === true && typeof code === "string" ? code.trim() : code;
    const names = [CUSTOMER.cuid, MOBILE, ...Object.values(CONNECTIONS).flat().map(nameOf)];
    if (trimmed === PRACTICE_CUID && practice !== undefined)
      return tell(version, { ...CUSTOMER, cuid: PRACTICE_CUID }, { internet: practice });
    if (!names.includes(trimmed as string)) return refuse("customer_not_found");
    return tell(version, CUSTOMER, structuredClone(CONNECTIONS));
  };

  const list = (version: string, { cuid, service, reqId }: Sent): Answer => {
    const isPractice = cuid === PRACTICE_CUID && service === "internet";
    if (!isPractice && cuid !== CUSTOMER.cuid) return refuse("customer_not_found");
    const connection = isPractice ? practice?.find(({ username }) => username === reqId) : connectionOf(service, reqId);
    if (connection === undefined) return refuse("connection_not_found");
    if (version === "v1.0.0" && service === "tv" && behaviour.isTvNew === true) return refuse("connection_not_found");
    const plain = behaviour.reusesCheckoutIds === true ? "C-0" : `C-${String(issued.size).padStart(5, "0")}-x_y`;
    const checkoutId = behaviour.formCheckoutId?.(plain) ?? plain;
    issuedAt.set(checkoutId, now);
    issued.set(checkoutId, `${cuid} ${service} ${reqId} ${version}`);
    const bouquets = (BOUQUETS[service as string] ?? []).map(({ price, ...rest }) =>
      version === "v1.0.1" ? { ...rest, price } : { ...rest, amt: price },
    );
    const packages = {
      connection: { ...connection },
      subscriptions: structuredClone(running(service, reqId)),
      bouquets,
    };
    return succeed("400aa010", { checkoutId, customer: { ...CUSTOMER, cuid }, [service as string]: packages });
  };

  const running = (service = "", reqId = ""): Subscription[] => {
    const [first] = BOUQUETS[service] ?? [];
    const base = {
      code: first?.code ?? "",
      name: first?.name ?? "",
      startdate: format(START - 9 * DAY_MS),
      enddate: format(START),
    };
    const found = subscriptions.get(`${service} ${reqId}`) ?? [base];
    subscriptions.set(`${service} ${reqId}`, found);
    return found;
  };

  const extend = ({ service = "", reqId = "", bouquetId }: Sent): void => {
    const found = running(service, reqId);
    const bouquet = (BOUQUETS[service] ?? []).find(({ code }) => code === bouquetId);
    const same = found.find(({ code }) => code === bouquetId);
    if (bouquet === undefined) return;
    const { code, name } = bouquet;
    if (same !== undefined) same.enddate = later(same.enddate, name);
    else found.push({ code, name, startdate: format(START), enddate: later(format(START), name) });
  };

  const charge = (sent: Sent): Answer => {
    charges += 1;
    const result = resultOf(sent, charges);
    results.set(sent["checkoutId"] ?? "", result);
    extend(sent);
    if (behaviour.extendsTwice === true) extend(sent);
    return succeed("400ab001", { result: { ...result } });
  };

  const topUp = (version: string, fields: Fields): Answer => {
    const sent = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)]));
    if (behaviour.readsAmount === "rounded") sent["amt"] = String(Math.round(Number(sent["amt"])));
    if (behaviour.readsAmount === "with exponent") sent["amt"] = String(Number(sent["amt"]));
    const { checkoutId = "", bouquetId, amt, udf1 = "", udf2 = "", service = "", reqId = "" } = sent;
    if (!/^\d+(\.\d+)?$/.test(amt ?? "")) return refuse("invalid_field");
    const longest = Math.max(udf1.length, udf2.length);
    if (version === "v1.0.1" && longest > (behaviour.freeFieldMaxLength ?? 30)) return refuse("invalid_field");
    const isShort = version === "v1.0.1" && (udf1 === "" || udf2 === "");
    if (isShort && behaviour.needsBothReferences === true) return refuse("invalid_field");
    const recorded = results.get(checkoutId);
    if (recorded !== undefined) return reuse(sent, recorded);
    const listed = issued.get(checkoutId)?.split(" ");
    const isElsewhere = behaviour.bindsToVersion === true && listed?.[3] !== version;
    if (listed === undefined || isElsewhere) return refuse("checkout_unknown");
    const isExpired = now - (issuedAt.get(checkoutId) ?? 0) > VALID_MS;
    if (isExpired && behaviour.neverExpires !== true) return refuse("checkout_expired");
    const isOther = listed[0] !== sent["cuid"] ? "cuid" : listed[2] !== reqId ? "reqId" : undefined;
    const isTaken = isOther !== undefined && behaviour.takesAnyOther === isOther;
    if ((isOther !== undefined && !isTaken) || listed[1] !== service) return refuse("checkout_mismatch");
    const bouquet = (BOUQUETS[service] ?? []).find(({ code }) => code === bouquetId);
    if (bouquet === undefined) return refuse("bouquet_unavailable");
    if (Number(amt) !== bouquet.price && behaviour.takesAnyAmount !== true) return refuse("amount_mismatch");
    return charge(sent);
  };

  const reuse = (sent: Sent, recorded: Record<string, unknown>): Answer => {
    if (behaviour.onReuse === "charge") return charge(sent);
    if (behaviour.onReuse === "extend") extend(sent);
    const isSame = ["cuid", "service", "reqId", "bouquetId", "amt"].every(
      (name) => String(recorded[name]) === sent[name] || name === behaviour.comparesNot,
    );
    if (behaviour.isTopupd !== true) return refuse("checkout_used");
    if (!isSame && behaviour.replaysAnything !== true) return refuse("checkout_used");
    const answer = succeed("400ab001", { result: { ...recorded } });
    answer.headers["idempotent-replayed"] = "true";
    return answer;
  };

  const query = (checkoutId: string): Answer => {
    const result = behaviour.tellsFirstTopUp === true ? results.get("older") : results.get(checkoutId);
    if (result !== undefined) return succeed("400ab001", { result: { ...result } });
    return refuse(issued.has(checkoutId) ? "not_topped_up" : "checkout_unknown");
  };

  const run: Rules["run"] = (version, operation, fields) => {
    const wrong = wrongFields(operation, fields);
    if (wrong.length > 0) {
      const answer = refuse("invalid_field");
      answer.json.body.fields = wrong.map((field) => ({ field, problem: "is wrong" }));
      return answer;
    }
    if (operation === "get-customer-information") return lookUp(version, fields["code"]);
    if (operation === "get-subscription-package") return list(version, fields as Sent);
    return operation === "txn-status" ? query(fields["checkoutId"] as string) : topUp(version, fields);
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { run, refuse, charged: () => charges, pass };
}

const OLDER = {
  checkoutId: "older",
  cuid: CUSTOMER.cuid,
  service: "internet",
  reqId: "maya.net",
  bouquetId: "NET-1M",
  amt: "900",
};

function tell(version: string, customer: object, connections: object): Answer {
  const body =
    version === "v1.0.1"
      ? { customer: { ...customer, connections } }
      : { customer: { ...customer }, connection: connections };
  return succeed("400aa010", body);
}

function succeed(code: string, body: object): Answer {
  return { status: 200, headers: {}, json: { success: true, code, body } };
}

function resultOf({ checkoutId, cuid, reqId, bouquetId, amt, service }: Sent, number: number): Record<string, unknown> {
  const txnId = `TXN${String(number).padStart(23, "0")}`;
  const txnDate = format(START + number * 1000);
  return { orderId: checkoutId, txnId, cuid, reqId, bouquetId, amt: Number(amt), txnDate, status: "success", service };
}

function nameOf(connection: { stb: string } | { username: string }): string {
  return "stb" in connection ? connection.stb : connection.username;
}

function connectionOf(service = "", reqId = ""): object | undefined {
  const all = CONNECTIONS[service as keyof typeof CONNECTIONS] ?? [];
  return all.find((connection) => nameOf(connection) === reqId);
}

function wrongFields(operation: string, fields: Fields): string[] {
  const texts =
    operation === "get-customer-information"
      ? ["code"]
      : operation === "txn-status"
        ? ["checkoutId"]
        : ["cuid", "service", "reqId"];
  const services = ["tv", "internet", "iptv"];
  return texts.filter(
    (name) => typeof fields[name] !== "string" || (name === "service" && !services.includes(fields[name] as string)),
  );
}

const MONTHS = { MONTHLY: 1, QUARTERLY: 3, "HALF YEARLY": 6, YEARLY: 12 };

/** A timestamp that is later by the period in a bouquet's name. */
function later(timestamp: string, name: string): string {
  const time = new Date(`${timestamp.replace(" ", "T")}Z`);
  const words = /\((.*)\)/.exec(name)?.[1] as keyof typeof MONTHS;
  return format(time.setUTCMonth(time.getUTCMonth() + (MONTHS[words] ?? 1)));
}

/** `YYYY-MM-DD HH:MM:SS`. @param time in milliseconds since 1970. */
function format(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

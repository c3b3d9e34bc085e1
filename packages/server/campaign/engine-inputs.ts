import { Value } from "typebox/value";
import { createZone, DAY_MS } from "../src/domain/wall-time.ts";
import type { Operation } from "../src/office/operation.ts";
import type { Choices } from "./random.ts";

/* Inputs of operations for both engines: valid ones, of values that the story knows from earlier answers. */

export const ZONE = "Asia/Kathmandu";

interface Connection {
  readonly cuid: string;
  readonly service: "tv" | "internet";
  readonly reqId: string;
}

/** Names that a database may sort, fold or compare in a way of its own. */
const NAMES = [
  "aarav",
  "Zebra",
  "Éclair",
  "éclair",
  "ECLAIR",
  "आरती",
  "o'Neil",
  "Ang Dawa",
  "ang-dawa",
  "",
  "10%",
  "_",
];
const AREAS = ["Bhaktapur", "bhaktapur", "Ward 10", "Ward 9", undefined];
const CUSTOMERS = 24;

const CATALOGUE = [
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: "450" },
  { service: "tv", code: "tv-1m", name: "Sports TV (MONTHLY)", price: "700", segments: ["hd"] },
  { service: "tv", code: "KIDS-1M", name: "Kids [AddOn] (MONTHLY)", price: "100" },
  { service: "internet", code: "NET-1M", name: "Fiber 100 Mbps (MONTHLY)", price: "1130.05" },
  { service: "internet", code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", price: "3220" },
  { service: "iptv", code: "ITV-1M", name: "IPTV (MONTHLY)", price: "299.99" },
];

/** People who do everything. Who requests a change needs another one. */
export const ADMINS = ["Asha", "Bina"];

/** The values of a field in all operations; none: the field is left out. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  address: [null, "Thamel"],
  after: [],
  alertBelow: ["500", "none"],
  allowLargeChange: [true],
  allowedAddresses: [null],
  amount: ["450", "450.00", "1130.05"],
  amountColumn: ["amount"],
  area: ["Bhaktapur", "bhaktapur"],
  author: ["tester"],
  baseRevision: [],
  billing: [true, false],
  blocked: [true, false],
  bouquet: ["TV-1M", "tv-1m", "NET-1M"],
  burst: [2_000],
  checkpoint: [],
  code: CATALOGUE.map(({ code }) => code),
  contact: [null],
  count: [],
  creditLimit: ["100000", "none"],
  dayAmount: ["500000", "none"],
  dayTopUps: [10_000],
  days: [1, 2, 7, 30],
  delimiter: [","],
  detail: [],
  endKeys: [true],
  endedWithin: [3, 30, 365],
  endsWithin: [3, 30, 365],
  event: [],
  expiresAt: [],
  failedValues: [],
  first: [],
  fixed: ["1.50", "0"],
  key: ["checkoutId"],
  keyColumn: ["checkoutId"],
  legalName: ["Blue Ltd.", null],
  limit: [1, 2, 3, 7],
  list: [],
  newLookUps: [5_000],
  note: ["called back", "é 10%"],
  oldRecords: [],
  overlapHours: [0, 24],
  password: ["tumbling otters sing"],
  paused: [true, false],
  percent: ["2.5", "0"],
  preview: [true, false, false],
  price: ["450", "475.50"],
  problems: [true],
  q: [...NAMES, "98000", "box", "C01"],
  radius: [],
  rate: [1_000],
  reason: ["an outage", "paid twice", "é"],
  reference: ["R-1", "R-2", "r-1", "é"],
  remove: [true],
  reversedValues: [],
  rotate: [true],
  run: [true, false],
  runningAt: [],
  search: NAMES,
  segment: ["hd", "sd"],
  segments: [["hd"], []],
  seller: ["mina"],
  sellerOf: [],
  seq: [],
  settled: [true],
  share: ["13", "14.3", "0"],
  skipInvalid: [true],
  statusColumn: [],
  subject: [],
  successValues: [],
  target: [],
  taxNumber: [null, "601"],
  toleranceDays: [1, 3],
  topUpAmount: ["5000", "none"],
  totp: [false],
  udf1: ["INV-1", "inv-1"],
  udf2: [],
  url: ["http://127.0.0.1:9/"],
  webhook: [{ url: "http://127.0.0.1:9/" }],
};

/** People who come and go. */
const STAFF = ["Hari", "hari", "Éva", "Zed"];

/** The values of a field that means something else in one operation. */
const OWN_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  "DELETE /staff/:name name": STAFF,
  "DELETE /taxes/:service/:name/:from name": ["VAT"],
  "GET /transactions name": NAMES,
  "GET /transactions.csv name": NAMES,
  "GET /transactions/totals name": NAMES,
  "PATCH /partners/:name status": ["active"],
  "PATCH /staff/:name name": STAFF,
  "POST /partners name": ["Shop 1", "Shop 2", "shop 2", "Échoppe", "Zone"],
  "POST /partners/:name/account/entries amount": ["5000", "0.05"],
  "POST /staff name": STAFF,
  "POST /staff role": ["viewer", "support"],
  "POST /staff-keys name": ["crm", "CRM", "billing"],
  "POST /targets name": ["tv", "Books", "books", "feed"],
  "POST /taxes name": ["VAT"],
  "PUT /catalogue/bouquets/:code name": ["Family TV (MONTHLY)", "Fiber 100 Mbps (MONTHLY)"],
};

/** Optional fields without which most requests would be refused, or find nothing. */
const NEARLY_ALWAYS: ReadonlySet<string> = new Set([
  "allowLargeChange",
  "amountColumn",
  "asOf",
  "days",
  "environment",
  "ids",
  "percent",
  "plan",
  "role",
  "webhook",
]);

export class EngineInputs {
  /** The time of the story. */
  now = 0;
  readonly #zone = createZone(ZONE);
  readonly #choices: Choices;
  /** Number of the newest values of a name that are used. */
  #remembered = 6;
  /** Values of earlier answers by `PLACE.FIELD`, such as `partners.name`. */
  readonly #known = new Map<string, Set<unknown>>();
  readonly #connections: readonly Connection[];
  readonly #checkoutIds: string[] = ["unknown"];

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#connections = Array.from({ length: CUSTOMERS }, (_, index) => connectionsOf(index)).flat();
  }

  /** The operations that fill a new database. */
  first(): readonly (readonly [http: string, input: object])[] {
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => customerRow(index, this.#wall(index % 20)));
    return [
      ["POST /partners", { name: "Blue Wallet" }],
      ["POST /partners", { name: "blue wallet" }],
      ["POST /partners", { name: "Émile" }],
      ["POST /catalogue", { file: ndjson(CATALOGUE), environment: "production", allowLargeChange: true }],
      ["POST /imports", { file: ndjson(customers), environment: "production", run: true }],
      ...ADMINS.map((name) => ["POST /staff", { name, role: "admin", password: "kettle orbit fjord" }] as const),
    ];
  }

  connection(): Connection {
    return this.#choices.of(this.#connections);
  }

  checkoutId(): string {
    return this.#choices.of(this.#checkoutIds);
  }

  noteCheckout(checkoutId: string): void {
    this.#checkoutIds.push(checkoutId);
  }

  /** Remembers the ids and names of an answer. @param answer JSON; empty if there is none. */
  learn({ http: route }: Operation, answer: string): void {
    if (answer === "") return;
    const http = route ?? "";
    JSON.parse(answer, (field, value: unknown) => {
      if (typeof value === "number" || (typeof value === "string" && value !== ""))
        this.#note(field === "cursor" ? `${http}.cursor` : `${placeOf(http)}.${field}`, value);
      if (field === "txnId" || field === "checkoutId") this.#note("transactions.id", value);
      return value;
    });
  }

  #note(name: string, value: unknown): void {
    const values = this.#known.get(name) ?? new Set();
    // The newest stand last.
    values.delete(value);
    this.#known.set(name, values.add(value));
  }

  /**
   * A valid input; undefined if the operation needs what the story does not know yet.
   * @param isNext whether only the newest ids and names are used.
   */
  for(operation: Operation, isNext: boolean): object | undefined {
    this.#remembered = isNext ? 1 : 6;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const input = this.#anyInput(operation);
      if (Value.Check(operation.input, input)) return input;
    }
    return undefined;
  }

  #anyInput({ http: route, input }: Operation): object {
    const http = route ?? "";
    // Corrections meet again at few connections, so that one is often there to be reversed.
    const connection = http.startsWith("POST /customers")
      ? this.#choices.of(this.#connections.slice(0, 6))
      : this.connection();
    const given: Record<string, unknown> = {};
    for (const [field, schema] of Object.entries(input.properties)) {
      const isNeeded = input.required?.includes(field) || NEARLY_ALWAYS.has(field);
      if (!isNeeded && this.#choices.below(3) > 0) continue;
      const value = this.#valueOf(http, field, schema, connection);
      if (value !== undefined) given[field] = value;
    }
    return given;
  }

  #valueOf(http: string, field: string, schema: { enum?: readonly string[] }, connection: Connection): unknown {
    switch (field) {
      case "cuid":
      case "service":
      case "reqId":
        return connection[field];
      case "environment":
        return this.#choices.below(8) === 0 ? "trial" : "production";
      case "file":
        return this.#file(http);
      case "asOf":
        return this.#wall(0);
      case "plan":
        return connection.service === "tv" ? "Family TV" : "Fiber 100 Mbps";
      case "month":
        return this.#wall(-this.#choices.below(40)).slice(0, 7);
      case "from":
      case "to":
        return this.#day(http, field);
      case "ids":
        return this.#newest("held-back.id");
      default:
        return this.#choices.of([
          ...(OWN_VALUES[`${http} ${field}`] ??
            VALUES[field] ??
            schema.enum ??
            this.#newest(`${http}.${field}`, `${placeOf(http)}.${field}`, `${field}s.name`)),
        ]);
    }
  }

  /** The newest of the known values. */
  #newest(...names: readonly string[]): unknown[] {
    return names.flatMap((name) => [...(this.#known.get(name) ?? [])].slice(-this.#remembered));
  }

  /** Reports begin in the past. Changes of prices and taxes begin tomorrow. */
  #day(http: string, field: "from" | "to"): string {
    const isReport = http.startsWith("GET") || http === "POST /reconciliations";
    return this.#wall(isReport && field === "from" ? -25 : 1).slice(0, 10);
  }

  /** The time on the provider's clock in so many days. */
  #wall(days: number): string {
    return this.#zone.wallTime(this.now + days * DAY_MS);
  }

  #file(http: string): object {
    if (http === "POST /catalogue") {
      const price = String(400 + this.#choices.below(500));
      return ndjson(CATALOGUE.map((row, index) => (index === 0 ? { ...row, price } : row)));
    }
    if (http === "POST /imports") {
      const first = this.#choices.below(CUSTOMERS);
      const end = this.#wall(this.#choices.below(60) - 5);
      return ndjson([customerRow(first, end), customerRow((first + 1) % CUSTOMERS, end)]);
    }
    if (http === "POST /reconciliations") {
      const ids = this.#choices.shuffled(this.#checkoutIds).slice(0, 8);
      return textFile(`checkoutId,amount\n${ids.map((id) => `${id},450.00`).join("\n")}\n`);
    }
    const lines = Array.from({ length: 5 }, () => this.connection());
    return textFile(lines.map(({ cuid, reqId }) => this.#choices.of([cuid, reqId, "area Bhaktapur"])).join("\n"));
  }
}

/** The first part of a path: what its names and ids belong to. */
function placeOf(http: string): string {
  const [, path = ""] = http.split(" /");
  const [first = "", , third] = path.split(/[/.]/);
  return third === "tokens" ? "tokens" : first;
}

function customerRow(index: number, end: string): object {
  const area = AREAS[index % AREAS.length];
  const [box, line] = connectionsOf(index);
  const subscriptionOf = (code: string) => [{ code, startdate: "2026-10-10 09:00:00", enddate: end }];
  return {
    cuid: cuidOf(index),
    first_name: NAMES[index % NAMES.length],
    last_name: NAMES[(index * 5 + 3) % NAMES.length],
    ...(index % 3 === 0 ? {} : { mobile: `98000001${String(index).padStart(2, "0")}` }),
    status: index % 11 === 10 ? "inactive" : "active",
    ...(area === undefined ? {} : { area }),
    connections: {
      tv: [
        {
          stb: box.reqId,
          status: "active",
          ...(index % 2 === 0 ? { segment: "hd" } : {}),
          subscriptions: subscriptionOf("TV-1M"),
        },
      ],
      internet: [{ username: line.reqId, status: "active", subscriptions: subscriptionOf("NET-1M") }],
    },
  };
}

function cuidOf(index: number): string {
  return `${index % 2 === 0 ? "C" : "c"}${String(index).padStart(3, "0")}`;
}

function connectionsOf(index: number): readonly [Connection, Connection] {
  const cuid = cuidOf(index);
  return [
    { cuid, service: "tv", reqId: `box-${index}` },
    { cuid, service: "internet", reqId: `${index % 2 === 0 ? "User" : "user"}-${index}` },
  ];
}

function ndjson(rows: readonly object[]) {
  return { ...textFile(rows.map((row) => `${JSON.stringify(row)}\n`).join("")), name: "rows.ndjson", isCsv: false };
}

function textFile(text: string) {
  return {
    name: "rows.csv",
    isCsv: true,
    open: async function* () {
      yield Buffer.from(text);
    },
  };
}

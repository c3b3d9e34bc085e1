import type { Service } from "../domain/bouquet.ts";
import { DAY_MS, type Instant, plus } from "../domain/wall-time.ts";
import type { Zone } from "../domain/zone.ts";

/*
 * The customers of the demo's provider. Nobody is meant by any of them.
 */

export const DEMO_CUSTOMERS = 500;
const FIRST_CUID = 2_000_001;

const FIRST_NAMES = [
  ...["Aarav", "Anita", "Asmita", "Binod", "Bishnu", "Deepak", "Durga", "Gita", "Hari", "Indira", "Kabita", "Kamal"],
  ...["Kiran", "Laxmi", "Manoj", "Meena", "Mohan", "Nabin", "Nisha", "Prakash", "Puja", "Rajesh", "Ramesh", "Rita"],
  ...["Sabina", "Sagar", "Sanjay", "Sarita", "Shanti", "Sita", "Sunil", "Sushila", "Tara", "Uma", "Yogesh", "Zoë"],
];
const LAST_NAMES = [
  ...["Adhikari", "Basnet", "Bhattarai", "Chaudhary", "Dahal", "Ghimire", "Gurung", "Joshi", "Karki", "Khadka", "Lama"],
  ...[
    "Magar",
    "Maharjan",
    "Neupane",
    "Pandey",
    "Poudel",
    "Rai",
    "Regmi",
    "Shah",
    "Sherpa",
    "Shrestha",
    "Tamang",
    "Thapa",
  ],
];
const SEGMENTS = ["city", "city", "valley", "valley", "hills"];

/** Numbers that look random, and are the same for everybody. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below 1: Weyl's sequence, mixed. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

/** A plan that a connection has at the beginning, and the bouquets by which it is topped up, the commonest first. */
export interface DemoSubscription {
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
  readonly codes: readonly [string, ...string[]];
  /** The day of the history on which it ends, unless it is topped up. */
  readonly endsOn: number;
}

export interface DemoCustomer {
  /** As a customers file has it. */
  readonly row: {
    readonly cuid: string;
    readonly first_name: string;
    readonly last_name: string;
    readonly mobile: string;
    readonly status: "active" | "inactive";
    readonly connections: Partial<Record<Service, readonly { readonly subscriptions: readonly object[] }[]>>;
  };
  readonly subscriptions: readonly DemoSubscription[];
}

const PLANS = {
  tv: ["TRIAL-TV-1M", "TRIAL-TV-3M", "TRIAL-TV-12M"],
  kids: ["TRIAL-KIDS-1M"],
  internet: ["TRIAL-NET-1M", "TRIAL-NET-3M", "TRIAL-NET-12M"],
  address: ["TRIAL-IP-1M"],
  iptv: ["TRIAL-ITV-1M", "TRIAL-ITV-6M"],
} as const;

/** @param begin of the history. */
export function makeDemoCustomers(choices: Choices, zone: Zone, begin: Instant): DemoCustomer[] {
  return Array.from({ length: DEMO_CUSTOMERS }, (_, index) => makeCustomer(choices, zone, begin, index));
}

function makeCustomer(choices: Choices, zone: Zone, begin: Instant, index: number): DemoCustomer {
  const cuid = `${FIRST_CUID + index}`;
  const [first, last] = [choices.of(FIRST_NAMES), choices.of(LAST_NAMES)];
  const segment = choices.of(SEGMENTS);
  const subscriptions: DemoSubscription[] = [];
  const connect = (service: Service, reqId: string, ...plans: readonly (readonly [string, ...string[]])[]) => {
    const had = plans.map((codes) => ({ cuid, service, reqId, codes, endsOn: endDay(choices, zone, begin) }));
    subscriptions.push(...had);
    const bought = had.map(({ codes: [code], endsOn }) => {
      const startdate = zone.wallTime(begin + (endsOn - 30) * DAY_MS + choices.below(DAY_MS));
      return { code, startdate, enddate: plus(startdate, { months: 1, days: 0 }) };
    });
    const name = service === "tv" ? { stb: reqId } : { username: reqId };
    return { ...name, status: "active", segment, subscriptions: bought };
  };

  const connections: { [Name in Service]?: ReturnType<typeof connect>[] } = {};
  const username = `${first}.${last}${index}`
    .toLowerCase()
    .normalize("NFD")
    .replace(/[^a-z0-9.]/g, "");
  const boxes = choices.of([0, 1, 1, 1, 2]);
  if (boxes > 0) {
    connections.tv = Array.from({ length: boxes }, (_, box) => {
      const stb = `0002${cuid}${`${box + 1}`.padStart(4, "0")}`;
      return choices.isOneIn(2) ? connect("tv", stb, PLANS.tv, PLANS.kids) : connect("tv", stb, PLANS.tv);
    });
  }
  if (boxes === 0 || !choices.isOneIn(5)) {
    const plans = choices.isOneIn(4) ? [PLANS.internet, PLANS.address] : [PLANS.internet];
    connections.internet = [connect("internet", username, ...plans)];
  }
  if (boxes < 2 && choices.isOneIn(2)) connections.iptv = [connect("iptv", `${username}-iptv`, PLANS.iptv)];
  const status = choices.isOneIn(40) ? "inactive" : "active";
  const mobile = `98${41_000_000 + index * 7_919}`;
  return { row: { cuid, first_name: first, last_name: last, mobile, status, connections }, subscriptions };
}

/** A day of the first month, more often one about the end of a calendar's month. */
function endDay(choices: Choices, zone: Zone, begin: Instant): number {
  const day = 1 + choices.below(30);
  return isMonthEnd(zone, begin + day * DAY_MS) || choices.isOneIn(2) ? day : 1 + choices.below(30);
}

/** When people are paid. */
export function isMonthEnd(zone: Zone, at: Instant): boolean {
  const day = Number(zone.wallTime(at).slice(8, 10));
  return day >= 26 || day <= 3;
}

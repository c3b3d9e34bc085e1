/*
 * The customers of the demo's provider. All are fictional.
 */

export const DAY_MS = 86_400_000;
const CUSTOMERS = 500;
const FIRST_CUID = 2_000_001;

const FIRST_NAMES = (
  "Aarav Anita Asmita Binod Bishnu Deepak Durga Gita Hari Indira Kabita Kamal Kiran Laxmi Manoj Meena Mohan Nabin " +
  "Nisha Prakash Puja Rajesh Ramesh Rita Sabina Sagar Sanjay Sarita Shanti Sita Sunil Sushila Tara Uma Yogesh Zoë"
).split(" ");
const LAST_NAMES = (
  "Adhikari Basnet Bhattarai Chaudhary Dahal Ghimire Gurung Joshi Karki Khadka Lama Magar " +
  "Maharjan Neupane Pandey Poudel Rai Regmi Shah Sherpa Shrestha Tamang Thapa"
).split(" ");
const AREAS = ["Kathmandu", "Kathmandu", "Lalitpur", "Bhaktapur", "Kirtipur"];
const SEGMENTS = ["city", "city", "valley", "valley", "hills"];

type Service = "tv" | "internet" | "iptv";
/** Milliseconds since 1970. */
export type Instant = number;

/** The provider's clock. Its times are `YYYY-MM-DD HH:MM:SS`. */
export interface Calendar {
  readonly wallTime: (at: Instant) => string;
  /** The same time one month later. */
  readonly monthAfter: (time: string) => string;
}

/** Choices that look random and are the same in every demo. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number from 0 to below 1 (a mixed Weyl sequence). */
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

/** A subscription that exists when the history starts, and the bouquets that extend it, the most frequent first. */
export interface DemoSubscription {
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
  readonly codes: readonly [string, ...string[]];
  /** Day of the history when the subscription ends without a top-up. */
  readonly endsOn: number;
}

export interface DemoCustomer {
  /** A row of a customers file. */
  readonly row: {
    readonly cuid: string;
    readonly first_name: string;
    readonly last_name: string;
    readonly mobile: string;
    readonly status: "active" | "inactive";
    readonly area: string | undefined;
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

/** @param begin start of the history. */
export function makeDemoCustomers(choices: Choices, calendar: Calendar, begin: Instant): DemoCustomer[] {
  return Array.from({ length: CUSTOMERS }, (_, index) => makeCustomer(choices, calendar, begin, index));
}

function makeCustomer(choices: Choices, calendar: Calendar, begin: Instant, index: number): DemoCustomer {
  const cuid = `${FIRST_CUID + index}`;
  const [first, last] = [choices.of(FIRST_NAMES), choices.of(LAST_NAMES)];
  const segment = choices.of(SEGMENTS);
  const subscriptions: DemoSubscription[] = [];
  const connect = (service: Service, reqId: string, ...plans: readonly (readonly [string, ...string[]])[]) => {
    const had = plans.map((codes) => ({ cuid, service, reqId, codes, endsOn: endDay(choices, calendar, begin) }));
    subscriptions.push(...had);
    const bought = had.map(({ codes: [code], endsOn }) => {
      const startdate = calendar.wallTime(begin + (endsOn - 30) * DAY_MS + choices.below(DAY_MS));
      return { code, startdate, enddate: calendar.monthAfter(startdate) };
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
  const area = AREAS[index % AREAS.length];
  return { row: { cuid, first_name: first, last_name: last, mobile, status, area, connections }, subscriptions };
}

/** A day of the first month, more often one near the end of a calendar month. */
function endDay(choices: Choices, calendar: Calendar, begin: Instant): number {
  const day = 1 + choices.below(30);
  return isMonthEnd(calendar, begin + day * DAY_MS) || choices.isOneIn(2) ? day : 1 + choices.below(30);
}

/** Whether salaries are paid about this day. */
export function isMonthEnd(calendar: Calendar, at: Instant): boolean {
  const day = Number(calendar.wallTime(at).slice(8, 10));
  return day >= 26 || day <= 3;
}

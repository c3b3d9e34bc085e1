import type { Bouquet } from "../../src/domain/bouquet.ts";
import type { Calendar, Instant } from "../../src/domain/calendar.ts";
import { customerRow } from "../../src/domain/customer-export.ts";
import { readCustomerRow, type StatedCustomer } from "../../src/domain/customer-row.ts";
import type { TopUpsInFile } from "../../src/domain/restatement.ts";
import type { Subscription } from "../../src/domain/subscription.ts";
import { asJson, at, DAY_MS, MONTHLY, UTC } from "./builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";
import { calendarOf, type Place } from "./rules-places.ts";

/*
 * The same story told twice: where clocks are never changed, and where the rules of the zone change in between. All that
 * happens is told by the clocks on the wall, as providers and customers have it. So both must come to the same, but for
 * the hours by which the rules differ.
 */

/** A length of time that is sold: by months, or by days. */
export interface Sold {
  readonly months: number;
  readonly days: number;
}

export type RulesStep = { readonly wait: number } & (
  | { readonly kind: "top_up" | "goodwill" | "take_back"; readonly sold: Sold }
  | { readonly kind: "reversal"; readonly which: number }
  /** Records of a new sale: so many days from now, or from where the last ended. */
  | { readonly kind: "sale"; readonly ahead: number | "next"; readonly sold: Sold }
  /** The last records once more; or with another end, or another start; or as the customer is served. */
  | { readonly kind: "again" | "move" | "held" }
  | { readonly kind: "longer" | "earlier"; readonly days: number }
);

const KEY = { service: MONTHLY.service, reqId: "fiber1", plan: MONTHLY.plan };
const bouquetOf = (period: Sold): Bouquet => ({ ...MONTHLY, code: `NET-${period.months}-${period.days}`, period });
/** By the clock on the wall, as though that were in UTC. */
type Told = Instant;
interface Dates {
  readonly start: Told;
  readonly end: Told;
  readonly sold: Sold;
}

/** One of the two. */
class Teller {
  world: ProviderWorld;
  readonly #calendar: Calendar;
  readonly #codes: readonly Bouquet[];

  constructor(calendar: Calendar, codes: readonly Bouquet[]) {
    this.#calendar = calendar;
    this.#codes = codes;
    this.world = new ProviderWorld(calendar);
  }

  when(told: Told): Instant {
    const instant = this.#calendar.parse(UTC.format(told)) as number;
    return instant;
  }

  asTold(instant: Instant, now: Told): Told {
    return at(`${this.#calendar.asOf(this.when(now)).format(instant).replace(" ", "T")}Z`);
  }

  file({ start, end, sold }: Dates, now: Told): StatedCustomer {
    const known = this.#calendar.asOf(this.when(now));
    const [from, to] = [start, end].map((each) => known.parse(UTC.format(each))) as [number, number];
    return statedCustomer([
      statedConnection({ subscriptions: [statedSubscription(from, to, bouquetOf(sold), known)] }),
    ]);
  }

  move(now: Told, mode: TopUpsInFile): number {
    if (this.world.customer === undefined) throw new Error("there is nobody to export");
    const calendar = this.#calendar.asOf(this.when(now));
    const findBouquet = (_: string, code: string) => this.#codes.find((each) => each.code === code);
    const reading = readCustomerRow(asJson(customerRow(this.world.customer, { calendar, findBouquet })), {
      ...{ calendar, findBouquet },
    });
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    // Back to the place that it is from, it is nothing new.
    const again = this.world.import(reading.value, this.when(now), mode);
    this.world = new ProviderWorld(this.#calendar);
    this.world.import(reading.value, this.when(now) + 1000, mode);
    return again.entries.length + again.passedOver.length;
  }
}

export const SOLD: readonly Sold[] = [
  { months: 0, days: 7 },
  { months: 0, days: 30 },
  { months: 1, days: 0 },
  { months: 3, days: 0 },
];

/** Both tellings of one story. */
export class RulesStory {
  readonly #steady: Teller;
  readonly #changing: Teller;
  readonly #mode: TopUpsInFile;
  readonly #spread: number;
  readonly #second: number;
  /** Whether the rules differ by a day, and so what is left of days and months. */
  readonly #isDay: boolean;
  #now: Told;
  #last: Dates | undefined;
  readonly #seenEnds = new Set<Told>();
  /** Whether what was sold ahead begins at another time of the wall clock than was said: ends are counted from there. */
  #isShifted = false;
  /** Whether hours decide, by which the two may well differ. */
  isClose = false;

  #hasMonths = false;

  /** @param second of the day on which the provider's records begin and end. */
  constructor(place: Place, mode: TopUpsInFile, second: number) {
    const calendar = calendarOf(place);
    const codes = SOLD.map(bouquetOf);
    this.#steady = new Teller(UTC, codes);
    this.#changing = new Teller(calendar, codes);
    const offsets = [...calendar.offsets()];
    this.#spread = Math.max(...offsets) - Math.min(...offsets);
    this.#isDay = this.#spread > DAY_MS;
    this.#mode = mode;
    this.#second = second;
    this.#now = at(`${place.from}T10:00:00Z`);
    for (const teller of this.#both()) teller.world.import(statedCustomer(), teller.when(this.#now), mode);
  }

  #both(): readonly [Teller, Teller] {
    return [this.#steady, this.#changing];
  }

  play(step: RulesStep): void {
    this.#now += step.wait * DAY_MS + 1000;
    const run = this.#steady.world.subscription(KEY.reqId);
    this.#beware(this.#now, run?.end);
    this.#beware(this.#now, run?.start);
    const now = this.#now;
    this.#hasMonths ||= "sold" in step && step.sold.months > 0;
    switch (step.kind) {
      case "top_up":
        for (const each of this.#both()) each.world.topUp(KEY.reqId, each.when(now), bouquetOf(step.sold));
        break;
      case "goodwill":
        for (const each of this.#both())
          each.world.goodwill(KEY.reqId, each.when(now), step.sold.days, bouquetOf(step.sold));
        break;
      case "take_back":
        this.#beware(now % DAY_MS, run && run.end % DAY_MS);
        this.#same("what is taken back", (each) => {
          const outcome = each.world.takeBack(KEY.reqId, each.when(now), step.sold.days);
          return outcome.kind === "too_many" ? [outcome.kind, outcome.most, outcome.limit] : outcome.kind;
        });
        break;
      case "reversal":
        for (const each of this.#both()) each.world.reverse(KEY, each.when(now), step.which);
        break;
      case "move":
        this.#same("what comes back", (each) => each.move(now, this.#mode));
        break;
      default:
        this.#last = this.#dates(step, run) ?? this.#last;
        this.#import();
    }
    this.#compare();
  }

  #dates(step: RulesStep, run: Subscription | undefined): Dates | undefined {
    const last = this.#last;
    const midnight = Math.floor(this.#now / DAY_MS) * DAY_MS + this.#second * 1000;
    switch (step.kind) {
      case "sale": {
        const start = step.ahead === "next" ? (last?.end ?? midnight) : midnight + step.ahead * DAY_MS;
        return { start, end: UTC.add(start, { ...step.sold, seconds: 0 }), sold: step.sold };
      }
      case "longer":
        return last && { ...last, end: last.end + step.days * DAY_MS };
      case "earlier":
        return last && { ...last, start: last.start - step.days * DAY_MS };
      case "held":
        return (
          run &&
          last && {
            start: Math.floor(run.start / 1000) * 1000,
            end: Math.floor(run.end / 1000) * 1000,
            sold: last.sold,
          }
        );
      default:
        return last;
    }
  }

  #import(): void {
    if (this.#last === undefined) return;
    const { start, end } = this.#last;
    if (this.#mode === "unsaid" && this.#isShifted && this.#seenEnds.has(end)) this.isClose = true;
    const run = this.#steady.world.subscription(KEY.reqId);
    for (const one of [start, end, start - DAY_MS])
      for (const other of [run?.start, run?.end, this.#now]) this.#beware(one, other);
    const again = () =>
      this.#same("what a file says", (each) => {
        const file = each.file(this.#last as Dates, this.#now);
        const { entries, passedOver } = each.world.import(file, each.when(this.#now), this.#mode);
        return [entries.length, passedOver.length];
      });
    again();
    this.#compare();
    this.#now += 1000;
    again();
  }

  #beware(one: Told, other: Told | undefined): void {
    if (other !== undefined && one !== other && Math.abs(one - other) <= this.#spread) this.isClose = true;
  }

  #same(what: string, of: (teller: Teller) => unknown): void {
    const [steady, changing] = this.#both().map((each) => JSON.stringify(of(each)));
    if (steady !== changing && !this.isClose) throw new Error(`${what}: ${changing} in place of ${steady}`);
  }

  #compare(): void {
    if (this.isClose) return;
    const [steady, changing] = this.#both().map((each) => each.world.subscription(KEY.reqId));
    const told = (run: Subscription | undefined) =>
      run && [run.bouquet.code, run.grantedEnd === undefined, ...(this.#isDay ? [] : [run.onTop, run.goodwillDays])];
    const parts = [steady, changing].map((run) => JSON.stringify(told(run)));
    if (parts[0] !== parts[1]) throw new Error(`${parts[1]} in place of ${parts[0]}`);
    if (steady === undefined || changing === undefined) return;
    this.#seenEnds.add(Math.floor(steady.end / 1000) * 1000);
    this.#isShifted ||= this.#changing.asTold(changing.start, this.#now) !== steady.start;
    // A month from an hour before the first of March is no month from the first.
    if (this.#isShifted && this.#hasMonths) this.isClose = true;
    if (this.isClose) return;
    for (const end of ["start", "end"] as const) {
      const is = this.#changing.asTold(changing[end], this.#now);
      if (Math.abs(is - steady[end]) > this.#spread)
        throw new Error(`${end} ${UTC.format(is)} in place of ${UTC.format(steady[end])}`);
    }
    const folded = this.#changing.world.folded(KEY);
    if (folded?.end !== changing.end) throw new Error("the ledger folds to another end");
  }
}

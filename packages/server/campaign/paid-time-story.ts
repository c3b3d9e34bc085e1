import type { Bouquet } from "../src/domain/bouquet.ts";
import type { Calendar, Instant } from "../src/domain/calendar.ts";
import { customerRow } from "../src/domain/customer-export.ts";
import { readCustomerRow, type StatedCustomer } from "../src/domain/customer-row.ts";
import { type JsonObject, readJson } from "../src/domain/json.ts";
import { NO_PERIOD } from "../src/domain/period.ts";
import { at, DAY_MS, MONTHLY, SECOND_MS, UTC } from "../test/domain/builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "../test/domain/provider-world.ts";
import { correctSale, type DayRange, type Mistake, NEVER, recordsOf, runOf, type Stretch } from "./paid-time-model.ts";

const REQ_ID = "fiber1";
const KEY = { service: MONTHLY.service, reqId: REQ_ID, plan: MONTHLY.plan };
const FIRST_DAY = at("2026-01-01T10:00:00Z");

/** How many days are sold, topped up, given or taken back at a time. */
export const LENGTHS = [8, 30, 90] as const;

/** Days, so that any order of them comes to the same. */
const bouquetOf = (days: number): Bouquet => ({ ...MONTHLY, code: `NET-${days}D`, period: { months: 0, days } });
const CATALOGUE = LENGTHS.map(bouquetOf);

export type TimeStep =
  | { readonly kind: "sale" | "top_up" | "goodwill" | "take_back"; readonly wait: number; readonly days: number }
  | { readonly kind: "reversal"; readonly wait: number; readonly which: number }
  | { readonly kind: "correction"; readonly wait: number; readonly mistake: Mistake; readonly days: number }
  | { readonly kind: "move"; readonly wait: number };

/** What a provider's files are like, and how they are imported. */
export interface Habits {
  readonly topUps: "apart" | "included" | "unsaid";
  /** Whether the provider's records hold the top-ups. */
  readonly books: boolean;
  /** Whether a record tells of all that was sold without a gap, or of one sale. */
  readonly record: "run" | "sale";
  /** Whether a file is imported with each sale, or only every second day. */
  readonly imported: "at once" | "nightly";
  readonly kinds: readonly TimeStep["kind"][];
  /**
   * For how much longer than was paid for or given a customer may be served: for as many days as were given, where
   * records hold the top-ups and need not begin when these were made; for any time, where nobody said what they hold.
   */
  readonly favours?: "by goodwill" | "by anything";
}

/** One customer, as topupd has it, as the provider's records do, and as it ought to be. */
export class TimeStory {
  readonly #habits: Habits;
  readonly #calendar: Calendar;
  readonly #stretches: Stretch[] = [];
  readonly #seenEnds = new Set<number>();
  #world: ProviderWorld;
  #today = 0;
  #bookings = 0;
  #imported: DayRange | undefined;
  /** Whether records that held a top-up are without it since the last import. */
  #isCorrected = false;
  /** The day on which, as the next file ought to tell, the last sale began already. */
  #began: number | undefined;
  /** By how much records were corrected to end earlier: that may be less than what something granted since had put. */
  #cut = 0;
  /** Whether files could not tell how long the customer is to be served. */
  #isAmbiguous = false;

  constructor(habits: Habits, calendar: Calendar = UTC) {
    this.#habits = habits;
    this.#calendar = calendar;
    this.#world = new ProviderWorld(calendar);
    this.#world.import(statedCustomer([statedConnection()]), this.#at(0), habits.topUps);
  }

  play(step: TimeStep): void {
    this.#wait(step.wait);
    switch (step.kind) {
      case "sale":
        this.#book();
        this.#add(step.kind, step.days);
        this.#book();
        break;
      case "top_up":
        this.#world.topUp(REQ_ID, this.#at(this.#today), bouquetOf(step.days));
        this.#add(step.kind, step.days);
        break;
      case "goodwill":
        this.#world.goodwill(REQ_ID, this.#at(this.#today), step.days, bouquetOf(step.days));
        this.#add(step.kind, step.days);
        break;
      case "take_back":
        this.#takeBack(step.days);
        break;
      case "reversal":
        this.#reverse(step.which);
        break;
      case "correction":
        this.#correct(step.mistake, step.days);
        break;
      case "move":
        this.#move();
    }
    // Records that are corrected late do not tell what was used up meanwhile.
    if (this.#isCorrected && runOf(this.#stretches).end < this.#today) this.#isAmbiguous = true;
    this.#see();
    if (this.#habits.imported === "at once") this.#import();
  }

  /** Both as the first day on which the customer is not served, and none before today: what is over is over. */
  finish(): { readonly shown: number; readonly owed: number; readonly most: number; readonly isAmbiguous: boolean } {
    this.#import();
    if (this.#habits.record === "sale") this.#wait(Math.max(0, endOf(this.#records().at(-1)) - this.#today));
    const owed = Math.max(this.#today, runOf(this.#stretches).end);
    const given = this.#stretches.reduce((sum, { kind, days }) => sum + (kind === "goodwill" ? days : 0), 0);
    const favour = { "by goodwill": given, "by anything": Number.POSITIVE_INFINITY };
    const most = owed + this.#refused() + (this.#habits.favours === undefined ? 0 : favour[this.#habits.favours]);
    return { shown: Math.max(this.#today, this.#shownEnd()), owed, most, isAmbiguous: this.#isAmbiguous };
  }

  /** Records that are too short to be taken take nothing back of what they held either, and was reversed. */
  #refused(): number {
    if (this.#cut === 0) return 0;
    const reversed = this.#stretches.filter(({ kind, booked }) => kind === "top_up" && booked !== undefined);
    return reversed.reduce((sum, { taken }) => sum + taken, this.#cut);
  }

  /** A record of one sale is in the files of its own days alone, so somebody must import one of these. */
  #wait(days: number): void {
    const { record, imported } = this.#habits;
    if (record === "run" && imported === "at once") this.#today += days;
    else
      for (const last = this.#today + days; this.#today < last; ) {
        this.#today += 2;
        this.#import();
      }
  }

  #add(kind: Stretch["kind"], days: number): void {
    this.#stretches.push({ kind, day: this.#today, days, taken: 0, isElsewhere: false, booked: undefined });
  }

  #takeBack(days: number): void {
    const outcome = this.#world.takeBack(REQ_ID, this.#at(this.#today) + 3 * SECOND_MS, days);
    let left = outcome.kind === "taken_back" ? days : 0;
    for (const stretch of this.#stretches.toReversed()) {
      if (stretch.kind !== "goodwill" || stretch.isElsewhere) continue;
      const some = Math.min(left, stretch.days - stretch.taken);
      stretch.taken += some;
      left -= some;
    }
  }

  #reverse(which: number): void {
    const standing = this.#stretches.filter(
      ({ kind, taken, isElsewhere }) => kind === "top_up" && taken === 0 && !isElsewhere,
    );
    const stretch = standing[which % Math.max(1, standing.length)];
    if (stretch === undefined) return;
    const starts = () => [this.#records().at(-1)?.start, runOf(this.#stretches).start].join();
    const before = starts();
    this.#world.reverse(KEY, this.#at(this.#today), standing.indexOf(stretch));
    stretch.taken = stretch.days;
    if (!this.#habits.books || stretch.booked === undefined) return;
    this.#isCorrected = true;
    // What earlier records have held, later ones do not correct.
    if (starts() !== before || (this.#records().at(-1)?.start ?? NEVER) > stretch.day) this.#isAmbiguous = true;
  }

  #correct(mistake: Mistake, days: number): void {
    this.#book();
    // A file is imported within two days.
    const correction = correctSale(this.#stretches, mistake, days, this.#today + 2);
    if (correction === undefined) return;
    const { sale, began, ends, isUsedUp } = correction;
    this.#cut += ends;
    // A record of one sale holds no top-up that came after it: so it is too short to be taken.
    const isTooShort = this.#habits.books && this.#habits.record === "sale" && this.#hasBookedAfter(sale);
    if (isUsedUp || (began > 0 && isTooShort)) this.#isAmbiguous = true;
    if (began > 0) this.#began = sale.day;
  }

  #hasBookedAfter({ booked: place }: Stretch): boolean {
    return this.#stretches.some(({ kind, booked }) => kind === "top_up" && (booked ?? NEVER) > (place ?? NEVER));
  }

  /** To another topupd, of which this one's top-ups are none. */
  #move(): void {
    if (this.#world.customer === undefined) throw new Error("there is nobody to export");
    const findBouquet = (_: string, code: string) => CATALOGUE.find((bouquet) => bouquet.code === code);
    const context = { calendar: this.#world.calendar, findBouquet };
    const exported = JSON.stringify(customerRow(this.#world.customer, context));
    const reading = readCustomerRow(readJson(exported) as JsonObject, context);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    // What records are still to be corrected, only the place knows where it was reversed.
    if (this.#isCorrected || this.#began !== undefined) this.#isAmbiguous = true;
    this.#world = new ProviderWorld(this.#calendar);
    this.#world.import(reading.value, this.#at(this.#today) + 2 * SECOND_MS, this.#habits.topUps);
    for (const stretch of this.#stretches) stretch.isElsewhere = true;
  }

  /** The provider's records take in what they do not hold yet, in the order in which it was sold. */
  #book(): void {
    for (const stretch of this.#stretches) {
      const isHeld = stretch.kind === "sale" || (stretch.kind === "top_up" && this.#habits.books);
      if (!isHeld || stretch.booked !== undefined) continue;
      stretch.booked = this.#bookings;
      this.#bookings += 1;
    }
  }

  #records(): readonly DayRange[] {
    return recordsOf(this.#stretches, this.#habits.record);
  }

  #import(): void {
    this.#book();
    const records = this.#records();
    const current = records.find(({ start, end }) => start <= this.#today && end > this.#today);
    const record = current ?? records.findLast(({ end }) => end <= this.#today) ?? records[0];
    if (record !== undefined && this.#mayBeCopy(record)) this.#isAmbiguous = true;
    // Corrected and grown again to the same end, they say nothing new; begun anew, they do not say what they were.
    const isSeenCorrected = record?.start === this.#imported?.start && record?.end !== this.#imported?.end;
    if (this.#isCorrected && !isSeenCorrected) this.#isAmbiguous = true;
    this.#isCorrected = false;
    if (this.#began !== undefined && record !== undefined && !this.#tellsOf(this.#began, record))
      this.#isAmbiguous = true;
    this.#began = undefined;
    this.#imported = record;
    // What records do not mention any more is not withdrawn while goodwill has a part in it.
    if (record === undefined && this.#bookings > 0 && this.#hasGoodwill()) this.#isAmbiguous = true;
    const file = record === undefined ? statedCustomer([statedConnection()]) : this.#fileOf(record);
    this.#world.import(file, this.#at(this.#today) + SECOND_MS, this.#habits.topUps);
    this.#see();
  }

  /** Records that end just where the subscription was seen to end may have been copied from it. */
  #mayBeCopy({ end }: DayRange): boolean {
    const { topUps, books } = this.#habits;
    if (topUps === "apart" || !this.#seenEnds.has(end)) return false;
    // A copy of what they hold themselves changes nothing.
    const holdAll = books && this.#stretches.every(({ kind, taken }) => kind !== "goodwill" && taken === 0);
    return !holdAll && (topUps === "unsaid" || this.#hasGoodwill());
  }

  /** Not where the file has another record by now, or what was over before the run began, which tells nothing of it. */
  #tellsOf(began: number, { start, end }: DayRange): boolean {
    const run = this.#world.subscription(REQ_ID);
    return start <= began && began < end && (run === undefined || end > this.#dayOf(run.start));
  }

  #wall(number: number): string {
    return UTC.format(FIRST_DAY + number * DAY_MS);
  }

  /** By the clock on the wall. */
  #at(number: number): Instant {
    return this.#calendar.parse(this.#wall(number)) as Instant;
  }

  /** Where the rules of the zone change in between, hours are no matter. */
  #dayOf(instant: Instant): number {
    const rules = this.#calendar.asOf(this.#at(this.#today));
    return Math.round(((UTC.parse(rules.format(instant)) as Instant) - FIRST_DAY) / DAY_MS);
  }

  #fileOf({ start, end }: DayRange): StatedCustomer {
    const rules = this.#calendar.asOf(this.#at(this.#today) + SECOND_MS);
    const [from, to] = [start, end].map((each) => rules.parse(this.#wall(each)) as Instant) as [Instant, Instant];
    const subscription = statedSubscription(from, to, bouquetOf(30), rules);
    return statedCustomer([statedConnection({ subscriptions: [subscription] })]);
  }

  #hasGoodwill(): boolean {
    return this.#stretches.some(({ kind }) => kind === "goodwill");
  }

  #see(): void {
    this.#seenEnds.add(this.#shownEnd());
    // A run that ends today has ended or not by hours.
    const end = this.#world.subscription(REQ_ID)?.end;
    if (this.#shownEnd() === this.#today && end !== this.#at(this.#today) && end !== undefined)
      this.#isAmbiguous = true;
    const { onTop, goodwillDays } = this.#world.subscription(REQ_ID) ?? { onTop: NO_PERIOD, goodwillDays: 0 };
    // Else an import would warn of top-ups that there never were.
    if (this.#stretches.every(({ kind }) => kind !== "top_up") && onTop.days !== goodwillDays)
      throw new Error(
        `${goodwillDays} days are said to be goodwill of ${onTop.days} on top, where nothing was topped up`,
      );
  }

  #shownEnd(): number {
    const subscription = this.#world.subscription(REQ_ID);
    return subscription === undefined ? NEVER : this.#dayOf(subscription.end);
  }
}

function endOf(range: DayRange | undefined): number {
  return range?.end ?? NEVER;
}

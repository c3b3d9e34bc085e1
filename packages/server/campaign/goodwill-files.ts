import * as ledgers from "../src/domain/ledger.ts";
import { findFault } from "../src/domain/ledger-check.ts";
import { decideImport } from "../src/domain/ledger-import.ts";
import { keptEntries } from "../src/domain/ledger-retention.ts";
import { DAY_MS, wallMsBetween } from "../src/domain/wall-time.ts";
import { expectSame, isLater, moment } from "./paid-time-book.ts";
import { Choices } from "./random.ts";

/*
 * Random histories with goodwill and lapses, and honest files: of billing that mirrors topupd (its records hold goodwill)
 * or books sales and top-ups alone (they lack it). No file takes a day, or gives more than months differ in length; what
 * topupd exports comes back unchanged; a ledger without its old entries reads files like the whole one.
 */

export interface GoodwillHistories {
  files: number;
  /** Files that lack a required statement on goodwill. */
  unclear: number;
  exports: number;
}

/** @throws with the whole history if a file changes what it must not. */
export function runGoodwillHistories(seed: number, rounds: number): GoodwillHistories {
  const seen: GoodwillHistories = { files: 0, unclear: 0, exports: 0 };
  const choices = new Choices(seed);
  for (let round = 0; round < rounds; round += 1) {
    const history = new History(new Choices(choices.seed()), seen);
    try {
      history.play();
    } catch (cause) {
      throw new Error(`history ${round} of seed ${seed}: ${String(cause)}\n${history.told.join("\n")}`, { cause });
    }
  }
  return seen;
}

const MINUTE = 60_000;
const STEPS = 12;
const START = Date.UTC(2027, 0, 1);
/** By which months differ in length, and a part of a day. */
const MOST_DAYS = 3;
const PLAN = "Fiber";
const BOUQUET = { code: "F-1", name: "Fiber (MONTHLY)", addOn: false };
const AUTHOR = { author: "staff", reason: "test" };

/** Bookings of a separate billing system. */
interface Booked {
  readonly at: number;
  readonly months: number;
}

class History {
  readonly told: string[] = [];
  readonly #choices: Choices;
  readonly #seen: GoodwillHistories;
  readonly #reading: ledgers.GoodwillReading;
  readonly #isSaid: boolean;
  /** Whether the files of billing begin with the month under way, and not with the run. */
  readonly #tellsLastMonth: boolean;
  /** Whether billing that mirrors topupd leaves out seconds. */
  readonly #leavesOutSeconds: boolean;
  readonly #booked: Booked[] = [{ at: START, months: 1 }];
  #ledger: ledgers.Ledger = { plan: PLAN, entries: [] };
  #now = START;
  #asOf = START;

  constructor(choices: Choices, seen: GoodwillHistories) {
    [this.#choices, this.#seen] = [choices, seen];
    this.#reading = this.#choices.of(ledgers.GOODWILL_READINGS);
    this.#isSaid = this.#choices.below(2) === 0;
    this.#tellsLastMonth = this.#choices.below(4) === 0;
    this.#leavesOutSeconds = this.#choices.below(2) === 0;
  }

  play(): void {
    this.#append(
      ledgers.appendImport(
        this.#ledger,
        {
          kind: "import",
          asOf: moment(START),
          stated: this.#stated(this.#books(START)),
          since: 1,
          goodwill: "lacking",
        },
        moment(START + MINUTE),
      ),
      "first file",
    );
    for (let step = 0; step < STEPS; step += 1) {
      this.#now += (1 + this.#choices.below(20)) * DAY_MS + this.#choices.below(DAY_MS);
      const act = this.#choices.of(["top_up", "top_up", "goodwill", "goodwill", "reversal", "file", "file", "file"]);
      if (act === "file") this.#import();
      else if (act !== "reversal") this.#grant(act as "top_up" | "goodwill");
      else if (!this.#reverse()) break;
      this.#exportAndImport();
    }
    expectSame(findFault(this.#ledger), undefined, "what a check finds");
  }

  #grant(kind: "top_up" | "goodwill"): void {
    const at = moment(this.#now);
    const count = 1 + this.#choices.below(kind === "goodwill" ? 14 : 2);
    const period = kind === "goodwill" ? { months: 0, days: count } : { months: count, days: 0 };
    const own = kind === "goodwill" ? { kind, ...AUTHOR } : { kind, txnId: `T${this.#now}` };
    const head = ledgers.headOf(this.#ledger);
    this.#append(ledgers.appendGrant(head, { ...own, bouquet: BOUQUET, period }, at), `${kind} of ${count}`);
    if (kind === "top_up") this.#booked.push({ at: this.#now, months: count });
  }

  /** Takes back goodwill. @returns false if it had bridged a gap, so that records are free to state either end. */
  #reverse(): boolean {
    const { entries } = this.#ledger;
    const given = entries.filter((entry) => entry.kind === "goodwill");
    if (given.length === 0) return true;
    const of = this.#choices.of(given);
    const entry = ledgers.decideReversal(this.#ledger, { kind: "reversal", of: of.seq, ...AUTHOR }, moment(this.#now));
    if (typeof entry === "string") return true;
    const before = this.#end();
    this.#append(entry, `reversal of entry ${of.seq}`);
    const lost = wallMsBetween(this.#end(), before) / DAY_MS;
    return lost === 0 || Math.abs(lost - of.period.days) < 0.5;
  }

  /** An honest file as of some days ago. */
  #import(): void {
    const asOf = this.#now - this.#choices.below(10) * DAY_MS - MINUTE;
    if (asOf <= this.#asOf) return;
    this.#asOf = asOf;
    const run = this.#reading === "lacking" ? this.#books(asOf) : this.#mirror(asOf);
    const before = this.#end();
    const wasRunning = isLater(before, this.#now);
    const goodwill = this.#isSaid ? this.#reading : undefined;
    const decide = (ledger: ledgers.Ledger) =>
      decideImport(ledger, this.#stated(run), {
        ...{ asOf: moment(asOf), now: moment(this.#now), goodwill, toleranceDays: 1, allowsShorter: false },
      });
    const decision = decide(this.#ledger);
    const horizon = START + this.#choices.below(asOf - START);
    const pruned = { plan: PLAN, entries: keptEntries(this.#ledger.entries, moment(horizon)) };
    expectSame(decide(pruned), decision, "the decision on a ledger without its old entries");
    this.#seen.files += 1;
    const what = `file as of ${moment(asOf).wall}, ${this.#reading}${goodwill ? "" : ", not said"}: ${run?.start} to ${run?.end}`;
    if (decision.kind === "changed") {
      this.#append(decision.entry, what);
      expectSame(decide(this.#ledger).kind, "unchanged", "the same file again");
      if (wasRunning) this.#expectNear(before, this.#end(), { least: -1, what });
    } else {
      this.#tell(`${what}: ${decision.kind}`);
      if (decision.kind !== "held_back") return;
      if (decision.goodwill !== undefined) this.#seen.unclear += 1;
      else this.#expectNear(before, decision.statedEnd ?? "", { least: -MOST_DAYS, what: `${what}, held back` });
    }
  }

  /** The ends of a billing system that stores the ends topupd sends. */
  #mirror(asOf: number): { start: string; end: string } | undefined {
    const run = this.#ledger.entries.findLast(({ at }) => at.instant <= asOf)?.after;
    if (run === undefined || !this.#leavesOutSeconds) return run;
    return withoutSeconds(run);
  }

  #expectNear(from: string, to: string, { least, what }: { least: number; what: string }): void {
    const days = wallMsBetween(from, to) / DAY_MS;
    if (!(days > least && days <= MOST_DAYS)) throw new Error(`${what}: ${days} days, from ${from} to ${to}`);
  }

  #exportAndImport(): void {
    const { subscription } = ledgers.headOf(this.#ledger);
    if (this.#asOf > this.#now) return;
    const rules = { asOf: moment(this.#now), now: moment(this.#now + MINUTE), toleranceDays: 1, allowsShorter: false };
    const decide = (run: { readonly start: string; readonly end: string } | undefined) =>
      decideImport(this.#ledger, this.#stated(run), { ...rules, goodwill: undefined });
    expectSame(decide(subscription).kind, "unchanged", `an export of ${moment(this.#now).wall}`);
    this.#seen.exports += 1;
    if (subscription === undefined || !isLater(subscription.end, this.#now)) return;
    const isHeldBack = decide(withoutSeconds(subscription)).kind === "held_back";
    expectSame(isHeldBack, false, "whether an export without seconds is held back");
    if (subscription.goodwillDays === 0) return;
    const sold = { start: subscription.start, end: monthsAfter(subscription.end, 1) };
    expectSame(decide(sold).kind, "held_back", "a sale of billing's own, if nothing is said of goodwill");
  }

  /** The ends of a billing system that books only sales and top-ups. */
  #books(until: number): { start: string; end: string } {
    let run = { start: "", end: "", months: 0 };
    for (const { at, months } of this.#booked.filter((each) => each.at <= until)) {
      const { wall } = moment(at);
      if (run.end <= wall) run = { start: wall, end: wall, months: 0 };
      const all = run.months + months;
      run = { start: run.start, end: monthsAfter(run.start, all), months: all };
    }
    if (!this.#tellsLastMonth) return run;
    const begun = Array.from({ length: run.months }, (_, months) => monthsAfter(run.start, months));
    return { start: begun.findLast((start) => start <= moment(until).wall) ?? run.start, end: run.end };
  }

  #stated(run: { readonly start: string; readonly end: string } | undefined) {
    return run && { plan: PLAN, bouquet: BOUQUET, start: run.start, end: run.end, unit: "month" as const };
  }

  #end(): string {
    return ledgers.headOf(this.#ledger).subscription?.end ?? "";
  }

  #append(entry: ledgers.Entry, what: string): void {
    this.#ledger = { plan: PLAN, entries: [...this.#ledger.entries, entry] };
    this.#tell(`${what}: to ${entry.after?.end}`);
  }

  #tell(what: string): void {
    this.told.push(`${moment(this.#now).wall} ${what}`);
  }
}

function withoutSeconds({ start, end }: { readonly start: string; readonly end: string }) {
  return { start: `${start.slice(0, 16)}:00`, end: `${end.slice(0, 16)}:00` };
}

function monthsAfter(start: string, months: number): string {
  const [year, month, day] = start.slice(0, 10).split("-").map(Number) as [number, number, number];
  const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  const date = new Date(Date.UTC(year, month - 1 + months, Math.min(day, lastDay)));
  return date.toISOString().slice(0, 10) + start.slice(10);
}

import * as ledgers from "../src/domain/ledger.ts";
import { findFault } from "../src/domain/ledger-check.ts";
import { decideImport, resetLedger } from "../src/domain/ledger-import.ts";
import { keptEntries } from "../src/domain/ledger-retention.ts";
import type { StatedSubscription } from "../src/domain/subscription.ts";
import { expectSame, instantOf, isLater, moment, type Purchase, PurchaseBook } from "./paid-time-book.ts";
import { Choices } from "./random.ts";

/*
 * Random histories of one subscription: topupd's ledger beside a second, naive book that is a list of purchases in order
 * of time. The provider's files are written from that list too, with any lag. Whatever happens: the end is what both
 * books together come to, a file that tells the truth changes no end, the same file twice makes no entry, a ledger
 * without its old entries goes on like the whole one, and counting again comes to what is stored.
 */

/** Counts of tried cases. Low counts would prove nothing. */
export interface LedgerHistories {
  entries: number;
  files: number;
  heldBack: number;
  pruned: number;
  /** How often the end was compared with the naive book's. */
  compared: number;
  /** Ends at a day's last second. */
  inclusive: number;
  /** Files that never booked a reversed top-up. */
  unbooked: number;
}

/** @throws Error with the whole history if its end differs from the naive book. */
export function runLedgerHistories(seed: number, rounds: number): LedgerHistories {
  const seen: LedgerHistories = {
    entries: 0,
    files: 0,
    heldBack: 0,
    pruned: 0,
    compared: 0,
    inclusive: 0,
    unbooked: 0,
  };
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

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const STEPS = 16;
/** Midnight on the provider's clock, so that files can tell days by their last second. */
const START = instantOf("2027-01-31 00:00:00");
const PLAN = "Fiber";
const BOUQUET = { code: "F-1", name: "Fiber (MONTHLY)", addOn: false };
const AUTHOR = { author: "staff", reason: "test" };

const OWN_ACTS = ["top_up", "top_up", "top_up", "goodwill", "reversal", "prune"] as const;
const ACTS_OF_PROVIDER = ["sale", "sale", "file", "file", "file", "file", "wrong file", "unbooked"] as const;

class History {
  readonly told: string[] = [];
  readonly #choices: Choices;
  readonly #seen: LedgerHistories;
  readonly #book = new PurchaseBook();
  #whole: ledgers.Ledger = { plan: PLAN, entries: [] };
  #pruned: ledgers.Ledger = { plan: PLAN, entries: [] };
  #now = START;
  #horizon = START;
  #asOf = START;
  readonly #unit: "month" | "day";
  /** Whether a new purchase always comes before the end. */
  readonly #isUnbroken: boolean;
  readonly #hasFiles: boolean;
  /** Whether the files tell days without a time of day. */
  readonly #tellsDays: boolean;
  /** Whether the files tell midnights as the last second of the day before. */
  readonly #isInclusive: boolean;
  /** Until the two books may differ on where a run begins: then neither order of counting is the wrong one. */
  #isComparable = true;

  constructor(choices: Choices, seen: LedgerHistories) {
    [this.#choices, this.#seen] = [choices, seen];
    this.#unit = this.#chance(3, 4) ? "month" : "day";
    this.#isUnbroken = this.#chance(1, 2);
    this.#hasFiles = this.#chance(3, 4);
    this.#tellsDays = this.#hasFiles && this.#isUnbroken && this.#chance(1, 4);
    this.#isInclusive = this.#hasFiles && this.#isUnbroken && !this.#tellsDays && this.#chance(1, 3);
  }

  play(): void {
    this.#buy(this.#isInclusive || (this.#hasFiles && this.#chance(2, 3)) ? "sale" : "top_up");
    if (this.#isInclusive) {
      this.#now += HOUR;
      this.#importTruth(0);
    }
    this.#check();
    for (let step = 0; step < STEPS; step += 1) {
      if (this.#pass()) this.#act();
      else this.#buy("top_up");
      this.#check();
    }
    this.#end();
  }

  /** Lets time pass. @returns false where something must be bought now so that the run goes on. */
  #pass(): boolean {
    const { run } = this.#book.playOut(this.#now, { withGoodwill: false });
    const end = run === undefined ? this.#now : instantOf(run.end);
    const next = this.#now + HOUR + this.#choices.below(this.#isUnbroken ? 12 * DAY : 40 * DAY);
    if (this.#isUnbroken) this.#now = Math.min(next, Math.max(this.#now + HOUR, end - 2 * DAY));
    else this.#now = end > this.#now && this.#chance(1, 6) ? end : next;
    return !this.#isUnbroken || this.#now < end - 2 * DAY;
  }

  #act(): void {
    const act = this.#choices.of(this.#hasFiles ? [...OWN_ACTS, ...ACTS_OF_PROVIDER] : OWN_ACTS);
    if (act === "file") this.#importTruth(this.#choices.of([0, 0, HOUR, 3 * DAY, 20 * DAY]));
    else if (act === "wrong file") this.#importTooShort();
    else if (act === "unbooked") this.#importUnbooked();
    else if (act === "reversal") this.#reverse(this.#choices.of(this.#book.purchases));
    else if (act === "prune") this.#prune(START + this.#choices.below(this.#now - START));
    else this.#buy(act);
  }

  #buy(kind: Purchase["kind"]): void {
    const at = moment(this.#now);
    const unit = kind === "goodwill" ? "day" : this.#unit;
    const count = 1 + this.#choices.below(unit === "day" ? 12 : 3);
    const period = unit === "month" ? { months: count, days: 0 } : { months: 0, days: count };
    const seq = ledgers.headOf(this.#whole).seq + 1;
    const own = kind === "top_up" ? { kind, txnId: `T${seq}` } : { kind: "goodwill" as const, ...AUTHOR };
    const grant = { ...own, bouquet: BOUQUET, period };
    if (kind !== "sale") this.#append((ledger) => ledgers.appendGrant(ledgers.headOf(ledger), grant, at));
    this.#book.purchases.push({ kind, at, count, unit, seq, reversedAt: Number.POSITIVE_INFINITY });
    this.#tell(`${kind} of ${count} ${unit}(s)`);
  }

  #reverse(purchase: Purchase): void {
    const reversal = { kind: "reversal", of: purchase.seq, ...AUTHOR } as const;
    if (purchase.kind === "sale") return;
    const refusal = this.#append((ledger) => ledgers.decideReversal(ledger, reversal, moment(this.#now)));
    if (purchase.reversedAt <= this.#now && refusal === undefined) throw new Error("it is reversed a second time");
    if (refusal !== undefined) return;
    purchase.reversedAt = this.#now;
    this.#tell(`reversal of entry ${purchase.seq}`);
  }

  #prune(horizon: number): void {
    this.#horizon = Math.max(this.#horizon, horizon);
    const entries = keptEntries(this.#pruned.entries, moment(this.#horizon));
    this.#seen.pruned += this.#pruned.entries.length - entries.length;
    this.#pruned = { plan: PLAN, entries };
    this.#tell(`prune before ${moment(this.#horizon).wall}, from entry ${entries[0]?.seq}`);
  }

  /** A file that tells the truth: all top-ups and reversals up to its moment, and all sales up to when it was written. */
  #importTruth(lag: number): void {
    const purchase = this.#choices.of(this.#book.purchases);
    const wished = this.#chance(1, 4) ? purchase.at.instant : this.#now - MINUTE - this.#choices.below(lag + 1);
    const asOf = Math.min(wished, this.#now - MINUTE);
    if (asOf < this.#earliestAsOf()) return;
    const earliest = Math.max(asOf, this.#book.knownSales);
    const written = earliest + this.#choices.below(this.#now - earliest + 1);
    const { run, starts } = this.#book.fileOf(asOf, written);
    const hasNews = this.#book.known(this.#now, { sales: written }).length > this.#book.known(this.#now).length;
    const isRunning = isLater(ledgers.headOf(this.#whole).subscription?.end, this.#now);
    const own = this.#whole.entries.findLast(({ at }) => at.instant <= asOf)?.after;
    if (!this.#book.agreesWith(starts, own?.end, { asOf, written, now: this.#now })) this.#isComparable = false;
    const answer = this.#import(run, asOf, false);
    this.#tell(`file as of ${moment(asOf).wall}, ${run?.start} to ${run?.end}: ${answer ?? "taken"}`);
    if (this.#isComparable && isRunning && !hasNews && !this.#tellsDays)
      expectSame(answer, "unchanged", "a file that tells the truth, and nothing new");
    if (answer === "held_back") {
      if (this.#isComparable) throw new Error("a file that tells the truth is held back");
      if (this.#chance(1, 2)) return;
      this.#import(run, asOf, true);
    }
    [this.#asOf, this.#book.knownSales] = [asOf, written];
    expectSame(this.#import(run, asOf, false), "unchanged", "the same file again");
  }

  /** A file that claims to hold all, and ends a run too early: what was paid for stays. */
  #importTooShort(): void {
    const known = this.#book.known(this.#now);
    const { run } = this.#book.playOut(this.#now);
    const isTooPlain = this.#tellsDays || known.some(({ kind }) => kind === "goodwill");
    if (!this.#isComparable || isTooPlain || run === undefined || !isLater(run.end, this.#now)) return;
    if (!known.some(({ kind, at }) => kind === "top_up" && at.wall >= run.start)) return;
    const lost = this.#choices.of([HOUR, 23 * HOUR, DAY, 9 * DAY]);
    const end = moment(instantOf(run.end) - lost).wall;
    const isGone = this.#chance(1, 4) || end <= run.start;
    const answer = this.#import(isGone ? undefined : { start: run.start, end }, this.#now - MINUTE, false);
    expectSame(answer, isGone || lost >= DAY ? "held_back" : "unchanged", "a file that ends a paid run");
  }

  /** The last top-up is reversed, and a file as of before that never booked it: its time is not subtracted again. */
  #importUnbooked(): void {
    const topUp = this.#book.purchases.at(-1);
    if (topUp?.kind !== "top_up" || topUp.reversedAt <= this.#now || this.#tellsDays) return;
    this.#now += 2 * MINUTE;
    this.#reverse(topUp);
    this.#now += 2 * MINUTE;
    // A reversal is refused if the history before it is gone.
    if (topUp.reversedAt > this.#now) return;
    const asOf = topUp.reversedAt - MINUTE;
    const { run } = this.#book.fileOf(this.#now, this.#book.knownSales);
    this.#check();
    if (!this.#isComparable || asOf < this.#earliestAsOf() || !isLater(run?.end, this.#now)) return;
    this.#seen.unbooked += 1;
    expectSame(this.#import(run, asOf, false), "held_back", "a file that never booked a reversed top-up");
  }

  #earliestAsOf(): number {
    const opening = this.#pruned.entries.length < this.#whole.entries.length ? this.#pruned.entries[0] : undefined;
    return Math.max(this.#asOf, this.#horizon, opening?.at.instant ?? 0);
  }

  #check(): void {
    const own = this.#ownEnd();
    const { run } = this.#book.playOut(this.#now);
    if (!this.#book.keepsStarts(this.#now) && this.#hasFiles) this.#isComparable = false;
    if (!this.#isComparable || !(isLater(own, this.#now) || isLater(run?.end, this.#now))) return;
    this.#seen.compared += 1;
    const apart = Math.abs(instantOf(own ?? "") - instantOf(run?.end ?? ""));
    if (!(this.#tellsDays && apart < DAY)) expectSame(own, run?.end, `the end on ${moment(this.#now).wall}`);
  }

  /** Once all is in the records both books agree, every entry follows from those before it, and a reset begins anew. */
  #end(): void {
    this.#now += 40 * DAY;
    const { run } = this.#book.fileOf(this.#now, this.#now);
    this.#import(run, this.#now - MINUTE, true);
    const hasGoodwill = this.#book.known(this.#now).some(({ kind }) => kind === "goodwill");
    if (!hasGoodwill && !this.#tellsDays) expectSame(this.#ownEnd(), run?.end, "the end in the end");
    for (const ledger of [this.#whole, this.#pruned]) expectSame(findFault(ledger), undefined, "what a check finds");
    const reset = resetLedger(this.#whole, this.#stated(run), moment(this.#now));
    if (reset.kind === "changed") {
      const { after, seq } = reset.entry;
      expectSame([after?.end, after?.since], [this.#stated(run)?.end, after && seq], "what a reset comes to");
    }
    this.#seen.entries += this.#whole.entries.length;
  }

  /** The end in the ledger; the midnight after it if it is inclusive, as files tell it if they do. */
  #ownEnd(): string | undefined {
    const { subscription } = ledgers.headOf(this.#whole);
    if (subscription?.isInclusive !== true) return subscription?.end;
    this.#seen.inclusive += 1;
    return moment(instantOf(subscription.end) + SECOND).wall;
  }

  /** @returns why there is no entry. */
  #import(run: Pick<StatedSubscription, "start" | "end"> | undefined, asOf: number, allowsShorter: boolean) {
    const goodwill = "lacking" as const;
    const rules = { asOf: moment(asOf), now: moment(this.#now), goodwill, toleranceDays: 1, allowsShorter };
    const answer = this.#append((ledger) => {
      const decision = decideImport(ledger, this.#stated(run), rules);
      return decision.kind === "changed" ? decision.entry : decision.kind;
    });
    this.#seen.files += 1;
    if (answer === "held_back") this.#seen.heldBack += 1;
    return answer;
  }

  /** Appends to the whole ledger and to the pruned one, which must come to the same. @returns why there is no entry. */
  #append(decide: (ledger: ledgers.Ledger) => ledgers.Entry | string): string | undefined {
    const [entry, again] = [decide(this.#whole), decide(this.#pruned)];
    if (again === "history_gone" || again === "not_found") return again;
    if (typeof entry === "string" || typeof again === "string") {
      expectSame(again, entry, "the answer of a pruned ledger");
      return typeof entry === "string" ? entry : undefined;
    }
    expectSame(again.after, entry.after, "the subscription of a pruned ledger");
    this.#whole = { plan: PLAN, entries: [...this.#whole.entries, entry] };
    this.#pruned = { plan: PLAN, entries: [...this.#pruned.entries, again] };
    return undefined;
  }

  #stated(run: Pick<StatedSubscription, "start" | "end"> | undefined): StatedSubscription | undefined {
    const told = (wall: string) => (this.#tellsDays ? `${wall.slice(0, 10)} 00:00:00` : wall);
    if (run === undefined) return undefined;
    const isMidnight = run.end.endsWith(" 00:00:00");
    const end = this.#isInclusive && isMidnight ? moment(instantOf(run.end) - SECOND).wall : told(run.end);
    return { plan: PLAN, bouquet: BOUQUET, start: told(run.start), end, unit: this.#unit };
  }

  #tell(what: string): void {
    this.told.push(`${moment(this.#now).wall} ${what}`);
  }

  #chance(times: number, outOf: number): boolean {
    return this.#choices.below(outOf) < times;
  }
}

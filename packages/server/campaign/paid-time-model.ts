/* Days are counted from the first one of the story. */

/** Something that the customer is served for. */
export interface Stretch {
  readonly kind: "sale" | "top_up" | "goodwill";
  /** Of a sale, where the provider has corrected the day, the right one. */
  day: number;
  days: number;
  taken: number;
  /** Whether it was granted at another topupd, where the customer came from. */
  isElsewhere: boolean;
  /** Its place among what the provider's records hold. */
  booked: number | undefined;
}

export interface DayRange {
  readonly start: number;
  readonly end: number;
}

export const NEVER = Number.NEGATIVE_INFINITY;

/** The model: each stretch begins where the former ends, or at once where that is over. */
function runsOf(stretches: readonly Stretch[]): readonly DayRange[] {
  const runs: DayRange[] = [];
  for (const { day, days, taken } of stretches.toSorted((a, b) => a.day - b.day)) {
    const last = runs.at(-1);
    if (days === taken) continue;
    if (last === undefined || day >= last.end) runs.push({ start: day, end: day + days - taken });
    else runs[runs.length - 1] = { ...last, end: last.end + days - taken };
  }
  return runs;
}

export function runOf(stretches: readonly Stretch[]): DayRange {
  return runsOf(stretches).at(-1) ?? { start: NEVER, end: NEVER };
}

/** What the provider's records tell: of all that was sold without a gap, or of each sale by itself. */
export function recordsOf(stretches: readonly Stretch[], each: "run" | "sale"): readonly DayRange[] {
  const held = stretches.filter(({ booked, taken }) => booked !== undefined && taken === 0);
  const records: DayRange[] = [];
  for (const { day: soldOn, days } of held.toSorted((a, b) => (a.booked ?? 0) - (b.booked ?? 0))) {
    const last = records.at(-1);
    if (last === undefined || soldOn > last.end) records.push({ start: soldOn, end: soldOn + days });
    else if (each === "run") records[records.length - 1] = { ...last, end: last.end + days };
    else records.push({ start: last.end, end: last.end + days });
  }
  return records;
}

/** A run that was over before a sale counts as its beginning for so many days, if the sale began before that end. */
const CORRECTED_WITHIN_DAYS = 30;

/** Of a shorter one, no file of every second day need tell. */
const SHORTEST_SALE = 4;

/** What of a sale was recorded wrongly: it began earlier, it ends earlier, or both. */
export type Mistake = "start" | "end" | "both";

/**
 * The provider corrects its last sale, in place. What began without a gap after another began where that ends.
 * @param today by when it is imported.
 * @returns undefined where there is nothing to correct.
 */
export function correctSale(stretches: readonly Stretch[], mistake: Mistake, days: number, today: number) {
  const sale = lastBooked(stretches.filter(({ kind }) => kind === "sale"));
  if (sale === undefined) return undefined;
  const others = stretches.filter((stretch) => stretch.booked !== undefined && stretch.booked < (sale.booked ?? 0));
  if (sale.days <= SHORTEST_SALE) return undefined;
  const formerEnd = recordsOf(others, "run").at(-1)?.end ?? NEVER;
  const began = mistake === "end" ? 0 : Math.max(0, Math.min(days, sale.day - formerEnd));
  const ends = mistake === "start" ? 0 : mistake === "both" ? began : Math.min(days, sale.days - SHORTEST_SALE);
  const soldOn = sale.day;
  sale.day -= began;
  sale.days += began - ends;
  const grants = stretches.filter((stretch) => stretch.kind !== "sale" && stretch.day <= soldOn);
  const isLate = runsOf(stretches.filter((stretch) => stretch !== sale)).some(
    ({ end }) => end <= soldOn && end > sale.day && today >= end + CORRECTED_WITHIN_DAYS,
  );
  return {
    sale,
    /** By how many days it began earlier, and ends earlier. */
    ...{ began, ends },
    /** Whether what of grants lasted into it counts as used up all the same: only the former place knew, or it is too late. */
    isUsedUp:
      began > 0 && grants.length > 0 && (isLate || (sale.isElsewhere && grants.some((each) => each.isElsewhere))),
  };
}

function lastBooked(sales: readonly Stretch[]): Stretch | undefined {
  return sales.reduce<Stretch | undefined>(
    (last, each) => (each.taken === 0 && (each.booked ?? NEVER) > (last?.booked ?? NEVER) ? each : last),
    undefined,
  );
}

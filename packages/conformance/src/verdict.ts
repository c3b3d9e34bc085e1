/** What a check says of a service. `came` never holds a value that may be personal. */
export type Verdict =
  | { readonly outcome: "holds" }
  /** `noted`: nobody forbids it, but somebody should look at it. */
  | { readonly outcome: "fails" | "noted"; readonly expected: string; readonly came: string }
  | { readonly outcome: "skipped"; readonly reason: string };

export const HOLDS: Verdict = { outcome: "holds" };

export function fails(expected: string, came: string): Verdict {
  return { outcome: "fails", expected, came };
}

export function noted(expected: string, came: string): Verdict {
  return { outcome: "noted", expected, came };
}

export function skipped(reason: string): Verdict {
  return { outcome: "skipped", reason };
}

/** Judges each item: the first that fails speaks for all, and with nothing judged the check is skipped. */
export function every<Item>(items: readonly Item[], none: string, judge: (item: Item) => Verdict): Verdict {
  const verdicts = items.map(judge);
  return (
    verdicts.find(({ outcome }) => outcome === "fails") ??
    verdicts.find(({ outcome }) => outcome === "holds") ??
    verdicts[0] ??
    skipped(none)
  );
}

/** Carries the first of several verdicts that is not `holds`. */
export function both(...verdicts: readonly (() => Verdict)[]): Verdict {
  for (const judge of verdicts) {
    const verdict = judge();
    if (verdict.outcome !== "holds") return verdict;
  }
  return HOLDS;
}

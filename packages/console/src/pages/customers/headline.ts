import type { Connection } from "../../api/staff-api.d.ts";
import { placeOf } from "../../format.ts";

const DAY_MS = 86_400_000;
/** A subscription that ends within so many days is shown as a warning. */
const SOON_DAYS = 3;

interface Headline<Of> {
  readonly tone: "neutral" | "success" | "warning" | "danger";
  /** The subscription that matters most; undefined if there is none. */
  readonly span: Of | undefined;
}

/** A subscription on the time line. */
interface Shown {
  readonly end: string;
  readonly tone: "running" | "waiting" | "over" | "add-on";
}

const ORDER: readonly Shown["tone"][] = ["running", "add-on", "waiting", "over"];

/** The answer to "does it run, and until when": the running base plan with the latest end, else what comes closest. */
export function headlineOf<Of extends Shown>(
  { status }: Pick<Connection, "status">,
  spans: readonly Of[],
  now: string,
): Headline<Of> {
  const [span] = spans.toSorted(
    (a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone) || placeOf(b.end) - placeOf(a.end),
  );
  if (span === undefined || status !== "active") return { tone: "neutral", span };
  if (span.tone === "over") return { tone: "danger", span };
  const isSoon = placeOf(span.end) - placeOf(now) < (SOON_DAYS + 1) * DAY_MS;
  return { tone: isSoon ? "warning" : "success", span };
}

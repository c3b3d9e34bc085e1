import { scaleUtc } from "d3-scale";
import type { ReactNode } from "react";
import { useMe } from "../api/session.tsx";
import { formatTime, placeOf, wallNow } from "../format.ts";
import { texts } from "../texts/index.ts";

export interface Span {
  readonly id: string;
  readonly label: ReactNode;
  /** A wall time, as are all times here. */
  readonly start: string;
  readonly end: string;
  readonly tone: "running" | "waiting" | "over" | "add-on";
  /** The end in words (default: start and end). */
  readonly when?: ReactNode;
  readonly past?: readonly { readonly start: string; readonly end: string }[];
  readonly marks?: readonly Mark[];
}

export interface Mark {
  readonly id: string;
  readonly at: string;
  readonly tone: "top_up" | "goodwill" | "reversed";
}

const DAY = 86_400_000;
/** Place of the last label in percent. */
const LAST_TICK = 78;
const MARK_TONES = ["top_up", "goodwill", "reversed"] as const;

interface TimeLineProps {
  readonly label: string;
  readonly spans: readonly Span[];
  /** Spans of all time lines on the page, so that they share one scale. */
  readonly scaleOf?: readonly Span[];
}

/** Subscriptions as bars over time, with a mark at now. Each row also states its end in words. */
export function TimeLine({ label, spans, scaleOf = spans }: TimeLineProps) {
  const { timeZone } = useMe().provider;
  const now = placeOf(wallNow(timeZone));
  const starts = scaleOf.flatMap(({ start, past = [] }) => [start, ...past.map((run) => run.start)].map(placeOf));
  const ends = scaleOf.map(({ end }) => placeOf(end));
  const from = Math.max(Math.min(now - 7 * DAY, ...starts), now - 180 * DAY);
  const to = Math.min(Math.max(now + 30 * DAY, ...ends), now + 400 * DAY);
  const scale = scaleUtc([from, to], [0, 100]).clamp(true);
  // The label of a later one would be cut off.
  const ticks = scale.ticks(5).filter((tick) => scale(tick) < LAST_TICK);
  const tones = MARK_TONES.filter((tone) => spans.some(({ marks }) => marks?.some((mark) => mark.tone === tone)));
  const barOf = (run: { readonly start: string; readonly end: string }) => {
    const [left, right] = [scale(placeOf(run.start)), scale(placeOf(run.end))];
    return { left: `${left}%`, width: `${Math.max(right - left, 0.5)}%` };
  };
  return (
    <div className="time-line">
      <div className="time-line-axis" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick.getTime()} style={{ left: `${scale(tick)}%` }}>
            {tick.toISOString().slice(0, 10)}
          </span>
        ))}
        <span className="time-line-now-label" style={{ left: `${scale(now)}%` }}>
          {texts.common.today}
        </span>
      </div>
      <ul aria-label={label}>
        {spans.map(({ id, label: name, start, end, tone, when, past = [], marks = [] }) => (
          <li key={id}>
            <p className="row time-line-label">
              <span>{name}</span>
              <span className="muted number">
                {when ?? `${formatTime(start, timeZone)} – ${formatTime(end, timeZone)}`}
              </span>
            </p>
            <div className="time-line-track" aria-hidden="true">
              {past
                .filter((run) => placeOf(run.end) > from)
                .map((run) => (
                  <span key={`${run.start} ${run.end}`} className="time-line-bar time-line-over" style={barOf(run)} />
                ))}
              {placeOf(end) > from && (
                <span className={`time-line-bar time-line-${tone}`} style={barOf({ start, end })} />
              )}
              {marks
                .filter(({ at }) => placeOf(at) >= from)
                .map((mark) => (
                  <span
                    key={mark.id}
                    className={`time-line-mark time-line-mark-${mark.tone}`}
                    style={{ left: `${scale(placeOf(mark.at))}%` }}
                  />
                ))}
              <span className="time-line-now" style={{ left: `${scale(now)}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {tones.length > 0 && (
        <p className="row time-line-legend" aria-hidden="true">
          {tones.map((tone) => (
            <span key={tone}>
              <span className={`time-line-mark time-line-mark-${tone}`} /> {texts.common.marks[tone]}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

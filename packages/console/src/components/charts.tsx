import { scaleBand, scaleLinear } from "d3-scale";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { formatShort } from "../format.ts";
import { texts } from "../texts/index.ts";
import { unbroken } from "./display.tsx";
import { EmptyState } from "./states.tsx";

export interface Bar {
  readonly label: string;
  /** Height of the bar; may be rounded. */
  readonly value: number;
  /** Text of the value, with all digits. */
  readonly text: string;
  /** Address of the list behind the value. */
  readonly href?: string;
}

interface ChartProps {
  readonly title: string;
  /** Heading of the labels, such as `Day`. */
  readonly labelHeader: string;
  /** Heading of the values, such as `Top-ups`. */
  readonly valueHeader: string;
  readonly bars: readonly Bar[];
}

interface BarsProps extends ChartProps {
  /** Short label below the axis if there is room (default: the label). */
  readonly tick?: (bar: Bar) => string;
}

const HEIGHT = 190;
const MARGIN = { top: 10, right: 4, bottom: 22, left: 46 };

/** Bars over time. Pointing or the arrow keys show the value of a bar; a table below lists all values. */
export function Bars({ title, labelHeader, valueHeader, bars, tick = ({ label }) => label }: BarsProps) {
  const [frame, width] = useWidth();
  const [active, setActive] = useState<number>();
  const hintId = useId();
  const [, goTo] = useLocation();
  const isEmpty = bars.every(({ value }) => value === 0);

  const x = scaleBand<number>(
    bars.map((_, index) => index),
    [MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)],
  ).padding(0.25);
  const y = scaleLinear([0, Math.max(...bars.map(({ value }) => value), 1)], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(
    4,
  );
  const everyNth = Math.ceil(bars.length / Math.max(Math.floor((width - MARGIN.left) / 56), 1));
  const shown = active === undefined ? undefined : bars[active];

  const open = () => {
    if (shown?.href !== undefined) goTo(shown.href);
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === "Enter") open();
    const last = bars.length - 1;
    const from = active ?? last;
    const steps: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setActive(Math.min(Math.max(to, 0), last));
  };
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const place = event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left;
    const index = Math.floor(place / x.step());
    setActive(index >= 0 && index < bars.length ? index : undefined);
  };

  return (
    <figure className="card chart">
      <figcaption>{title}</figcaption>
      {isEmpty ? (
        <EmptyState title={texts.common.nothingInChart} />
      ) : (
        <div ref={frame} className="chart-frame">
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={title}
            aria-describedby={hintId}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go from bar to bar
            tabIndex={0}
            onKeyDown={move}
            onFocus={() => setActive((now) => now ?? bars.length - 1)}
            onBlur={() => setActive(undefined)}
            onPointerMove={point}
            onPointerLeave={() => setActive(undefined)}
            onClick={open}
            style={shown?.href === undefined ? undefined : { cursor: "pointer" }}
          >
            {y.ticks(4).map((value) => (
              <g key={value} transform={`translate(0,${y(value)})`}>
                <line className="chart-line" x1={MARGIN.left} x2={width - MARGIN.right} />
                <text className="chart-text" x={MARGIN.left - 8} dy="0.32em" textAnchor="end">
                  {formatShort(value)}
                </text>
              </g>
            ))}
            {bars.map((bar, index) => (
              <rect
                key={bar.label}
                className={index === active ? "chart-bar chart-bar-active" : "chart-bar"}
                x={x(index) ?? 0}
                width={x.bandwidth()}
                y={y(bar.value)}
                height={Math.max(y(0) - y(bar.value), 0)}
                rx={Math.min(3, x.bandwidth() / 3)}
              />
            ))}
            {bars.map((bar, index) =>
              index % everyNth !== 0 ? null : (
                <text
                  key={bar.label}
                  className="chart-text"
                  x={(x(index) ?? 0) + x.bandwidth() / 2}
                  y={HEIGHT - 6}
                  textAnchor="middle"
                >
                  {tick(bar)}
                </text>
              ),
            )}
          </svg>
          {shown !== undefined && active !== undefined && (
            <ChartTip place={((x(active) ?? 0) + x.bandwidth() / 2) / width}>
              <span>{shown.label}</span> <strong className="number">{shown.text}</strong>
            </ChartTip>
          )}
          <p id={hintId} className="visually-hidden">
            {texts.common.chartHelp}
          </p>
          <p className="visually-hidden" aria-live="polite">
            {shown && `${shown.label}: ${shown.text}`}
          </p>
          <ChartTable title={title} labelHeader={labelHeader} valueHeader={valueHeader} bars={bars} />
        </div>
      )}
    </figure>
  );
}

/** Shares of a whole as a table, largest first. A bar is as long as its share of all. */
export function ShareBars({ title, labelHeader, valueHeader, bars }: ChartProps) {
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  return (
    <figure className="card chart">
      <figcaption>{title}</figcaption>
      {all === 0 ? (
        <EmptyState title={texts.common.nothingInChart} />
      ) : (
        <table className="shares" aria-label={title}>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">{labelHeader}</th>
              <th scope="col">{valueHeader}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, value, text, href }) => (
              <tr key={label}>
                <th scope="row">
                  <Label href={href}>{label}</Label>
                  <span className="share-track" aria-hidden="true">
                    <span className="share-bar" style={{ width: `${(value / all) * 100}%` }} />
                  </span>
                </th>
                <td className="number">{texts.common.share(text, value / all)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </figure>
  );
}

function Label({ href, children }: { href: string | undefined; children: string }) {
  const text = unbroken(children);
  return href === undefined ? text : <Link href={href}>{text}</Link>;
}

/** A tooltip at its bar that stays inside the chart. `place`: 0 (left) to 1 (right). */
function ChartTip({ place, children }: { place: number; children: ReactNode }) {
  return (
    <div className="chart-tip" style={{ left: `${place * 100}%`, translate: `-${place * 100}% 0` }} aria-hidden="true">
      {children}
    </div>
  );
}

function ChartTable({ title, labelHeader, valueHeader, bars }: ChartProps) {
  return (
    <details className="chart-table">
      <summary>{texts.common.showTable}</summary>
      <table className="table-plain" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{labelHeader}</th>
            <th scope="col" className="cell-number">
              {valueHeader}
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ label, text, href }) => (
            <tr key={label}>
              <th scope="row">
                <Label href={href}>{label}</Label>
              </th>
              <td className="cell-number">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(480);
  useEffect(() => {
    if (frame.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 480)));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width] as const;
}

/** A bar without text. Without a value it is empty. */
export function ThinBar({ tone, value, full }: { tone: string; value: number | undefined; full: number }) {
  return (
    <span className={`days-left tone-${tone}`} aria-hidden="true">
      {value !== undefined && <span style={{ width: `${(100 * Math.min(value, full)) / full}%` }} />}
    </span>
  );
}

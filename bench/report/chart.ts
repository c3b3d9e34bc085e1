import { type Comparison, isReached, ratioOf } from "../results.ts";
import { number } from "./rows.ts";

const WIDTH = 880;
const LEFT = 380;
const RIGHT = 150;
const TOP = 44;
const ROW = 44;
const BAR = 22;
/** Of the targets: what is beyond is cut, and its number still tells. */
const LONGEST = 3;

/**
 * A bar for each comparison, as long as its ratio is to its target, so that one line marks all targets. Readable on
 * light and dark pages.
 */
export function chartOf(comparisons: readonly Comparison[]): string {
  const height = TOP + comparisons.length * ROW + 16;
  const shares = comparisons.map((comparison) => Math.min(LONGEST, ratioOf(comparison) / comparison.target));
  const perTarget = (WIDTH - LEFT - RIGHT) / Math.max(1.25, ...shares);
  const target = LEFT + perTarget;
  const bars = comparisons.map((comparison, index) => bar(comparison, index, (shares[index] as number) * perTarget));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Requests a second of topupd, as a ratio to each baseline, against the target for it</title>
<style>
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .beside, .target { font-size: 12px; fill: #59636e; }
  .reached { fill: #1a7f5a; }
  .missed { fill: #b35900; }
  line { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .beside, .target { fill: #9198a1; }
    .reached { fill: #3fb68b; }
    .missed { fill: #e08b3a; }
    line { stroke: #e6edf3; }
  }
</style>
${bars.join("\n")}
<line x1="${round(target)}" y1="${TOP - 12}" x2="${round(target)}" y2="${height - 10}"/>
<text class="target" x="${round(target)}" y="${TOP - 20}" text-anchor="middle">target</text>
</svg>
`;
}

function bar(comparison: Comparison, index: number, length: number): string {
  const y = TOP + index * ROW;
  const middle = y + BAR / 2;
  const label = `${number(ratioOf(comparison), 2)} (target ${number(comparison.target, 2)})`;
  return [
    `<text x="${LEFT - 12}" y="${middle - 1}" text-anchor="end">${escaped(comparison.measured)}</text>`,
    `<text class="beside" x="${LEFT - 12}" y="${middle + 14}" text-anchor="end">beside ${escaped(comparison.baseline)}</text>`,
    `<rect class="${isReached(comparison) ? "reached" : "missed"}" x="${LEFT}" y="${y}" width="${round(length)}" height="${BAR}" rx="3"/>`,
    `<text x="${WIDTH - 8}" y="${middle + 5}" text-anchor="end">${label}</text>`,
  ].join("\n");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

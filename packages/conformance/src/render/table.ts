import { ASKS_TO_WAIT, COMPRESSED, HTML_PAGE, TIME_LIMIT, TOO_LONG } from "../exchange.ts";
import { type CheckResult, NEEDS_TOP_UP, type Report } from "../report.ts";
import { NO_LONGER_OFFERED } from "../spend.ts";

/** The width of a terminal, in characters. */
const WIDTH = 80;
const ID_WIDTH = 24;
const MARKS = { holds: "✓", fails: "✗", noted: "!", skipped: "-" } as const;

/** The report for people: each check, the reasons of failures, and a summary. */
export function renderTable(report: Report): string {
  const groups = [...new Set(report.results.map(({ group }) => group))];
  const lines = groups.flatMap((group) => [
    group === "versions" ? "Both versions" : group,
    ...report.results.filter((result) => result.group === group && !isUnspent(result)).flatMap(renderResult),
    ...renderUnspent(report.results.filter((result) => result.group === group && isUnspent(result)).length),
    ...report.notes.filter((note) => note.group === group).flatMap(({ text }) => hang("  ! ", text)),
    "",
  ]);
  return `${[...lines, ...summarise(report)].join("\n")}\n`;
}

/** Sums up the checks of top-ups in one line if --top-up is not given. */
function isUnspent({ reason }: CheckResult): boolean {
  return reason === NEEDS_TOP_UP;
}

function renderUnspent(count: number): string[] {
  return count === 0 ? [] : [`  - ${`${count} checks of top-ups`.padEnd(ID_WIDTH)} skipped: ${NEEDS_TOP_UP}`];
}

function renderResult({ id, level, sentence, source, outcome, expected, came, reason }: CheckResult): string[] {
  const head = `  ${MARKS[outcome]} ${id.padEnd(ID_WIDTH)} `;
  if (outcome === "skipped") return hang(head, `skipped: ${reason}`);
  if (outcome === "holds") return hang(head, sentence);
  return [
    ...hang(head, sentence),
    ...hang("      expected  ", expected ?? ""),
    ...hang("      came      ", came ?? ""),
    ...hang("      source    ", sourceName(level, source)),
  ];
}

export function sourceName(level: CheckResult["level"], source: string): string {
  return level === "topupd" ? `topupd's decisions, ${source}` : `the interface, ${source}`;
}

function summarise(report: Report): string[] {
  const { ok, counts, topUp, profile, notes } = report;
  const marked = notes.length + counts.noted;
  const told = marked === 0 ? "" : `, ${marked} to look at (!)`;
  const what = profile === "topupd" ? "the interface and topupd's decisions" : "the interface";
  const spent = topUp ? "" : " Top-ups were not checked: that needs --top-up.";
  const verdict = ok
    ? `The service keeps to ${what}, as far as was checked.${spent}`
    : counts.fails > 0
      ? `The service does not keep to ${what}.`
      : "Nothing failed, but too little could be judged.";
  const advice = adviseOn(report);
  return [
    `${counts.holds} hold, ${counts.fails} fail, ${counts.skipped} skipped${told}`,
    ...hang("", verdict),
    ...listUnjudged(report),
    ...(advice === undefined ? [] : hang("", advice)),
  ];
}

function listUnjudged({ unjudged, results }: Report): string[] {
  if (unjudged.length === 0) return [];
  const groups = [...new Set(results.map(({ group }) => group))];
  const lines = groups.flatMap((group) => {
    const ids = unjudged.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1));
    return ids.length === 0 ? [] : hang(`  ${group}  `, ids.join(", "));
  });
  return ["Essential, and not judged:", ...lines];
}

/** Advice if the command line may be wrong, not the service. */
function adviseOn({ results, unjudged, counts }: Report): string | undefined {
  const isPage = results.some(({ id, came }) => id === "lookup-json" && came?.includes(HTML_PAGE));
  if (isPage) return "A web server answered in place of the service: is --base right?";
  const isTimeUp = results.some(({ came }) => came?.includes(TIME_LIMIT));
  if (isTimeUp) return "The kit did not wait longer: give the service more time, with --timeout.";
  const isLost = results.some(({ id, outcome }) => id === "lookup-success" && outcome === "fails");
  if (isLost) return "The look-up failed: are --code, the access token and --base right?";
  if (unjudged.length === 0 || counts.fails > 0) return undefined;
  const reasons = results.filter(({ group, id }) => unjudged.includes(`${group} ${id}`)).map(({ reason }) => reason);
  if (reasons.includes(ASKS_TO_WAIT)) return "The service is busy: try again later.";
  if (reasons.includes(COMPRESSED)) return "Have the service, or the proxy before it, heed Accept-Encoding: identity.";
  if (reasons.some((reason) => reason?.startsWith(TOO_LONG))) return "Try a --code whose answers are shorter.";
  if (reasons.includes(NO_LONGER_OFFERED)) {
    return "Check that version in a run of its own, with --api, or choose what to buy with --bouquet.";
  }
  return "Try a --code whose customer is active and has an active internet or tv connection.";
}

/** Wraps a text behind a head, with each line indented like the first. */
function hang(head: string, text: string): string[] {
  const room = WIDTH - head.length;
  const lines: string[] = [];
  for (const word of text.split(" ").flatMap((long) => cut(long, room))) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line, index) => (index === 0 ? head : " ".repeat(head.length)) + line);
}

function cut(word: string, room: number): string[] {
  return word.length <= room ? [word] : [word.slice(0, room), ...cut(word.slice(room), room)];
}

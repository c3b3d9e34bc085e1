import type { CheckResult, Report } from "../report.ts";
import { sourceName } from "./table.ts";

/** The report as JUnit XML: a suite for each version, a case for each check. */
export function renderJunit(report: Report): string {
  const groups = [...new Set(report.results.map(({ group }) => group))];
  const suites = groups.map((group) =>
    renderSuite(
      group,
      report.results.filter((result) => result.group === group),
      report.unjudged,
    ),
  );
  const { holds, fails, noted, skipped } = report.counts;
  const failures = fails + report.unjudged.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="topupd conformance" tests="${holds + fails + noted + skipped}" failures="${failures}">`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

function renderSuite(group: string, results: readonly CheckResult[], unjudged: readonly string[]): string {
  const isUnjudged = ({ id }: CheckResult) => unjudged.includes(`${group} ${id}`);
  const failures = results.filter((result) => result.outcome === "fails" || isUnjudged(result)).length;
  const skipped = results.filter((result) => result.outcome === "skipped" && !isUnjudged(result)).length;
  return [
    `  <testsuite name="${escapeXml(group)}" tests="${results.length}" failures="${failures}" skipped="${skipped}">`,
    ...results.map((result) => renderCase(result, isUnjudged(result))),
    "  </testsuite>",
  ].join("\n");
}

/** An unjudged essential check is a failure here, so that a build does not pass. */
function renderCase(result: CheckResult, isUnjudged: boolean): string {
  const { id, group, level, sentence, source, outcome, expected = "", came = "", reason = "" } = result;
  const head = `    <testcase classname="${escapeXml(`conformance.${group}`)}" name="${escapeXml(id)}"`;
  if (outcome === "holds") return `${head}/>`;
  if (isUnjudged) return `${head}>\n      <failure message="${escapeXml(`not judged: ${reason}`)}"/>\n    </testcase>`;
  if (outcome === "skipped") return `${head}>\n      <skipped message="${escapeXml(reason)}"/>\n    </testcase>`;
  const text = `${sentence}\nexpected: ${expected}\ncame: ${came}\nsource: ${sourceName(level, source)}`;
  if (outcome === "noted") return `${head}>\n      <system-out>${escapeXml(text)}</system-out>\n    </testcase>`;
  return `${head}>\n      <failure message="${escapeXml(sentence)}">${escapeXml(text)}</failure>\n    </testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Replaces characters that XML cannot contain. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "?")
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

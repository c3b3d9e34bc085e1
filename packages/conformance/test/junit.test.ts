import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Report } from "../src/index.ts";
import { renderJunit } from "../src/render/junit.ts";
import { check } from "./support/conformance.ts";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

describe("the JUnit report", () => {
  test("counts what is in it", async () => {
    const { report } = await check({
      rewrite: ({ json }) => {
        json.code = "<&>";
      },
    });
    const root = parseXml(renderJunit(report));
    const cases = root.children.flatMap((suite) => suite.children);
    expect(root.children.map(({ attributes }) => attributes["name"])).toEqual(["v1.0.1", "v1.0.0", "versions"]);
    expect(cases.length).toBe(report.results.length);
    expect(root.attributes["tests"]).toBe(String(cases.length));
    expect(root.attributes["failures"]).toBe(String(report.counts.fails));
    expect(cases.flatMap(({ children }) => children).filter(({ name }) => name === "failure").length).toBe(
      report.counts.fails,
    );
  });

  test("fails what is essential and was not judged", async () => {
    const { report } = await check({}, { topUp: true, purchase: { bouquetId: "none" } });
    expect(report.counts.fails).toBe(0);
    const root = parseXml(renderJunit(report));
    expect(root.attributes["failures"]).toBe(String(report.unjudged.length));
    expect(report.unjudged.length).toBeGreaterThan(10);
  });

  test("fails nothing that is noted, and says what came", async () => {
    const { report } = await check({ takesAnyAmount: true }, { topUp: true });
    const root = parseXml(renderJunit(report));
    const [noted] = root.children.flatMap((suite) => suite.children).flatMap(({ children }) => children);
    expect(root.attributes).toMatchObject({ tests: String(report.results.length), failures: "0" });
    expect([noted?.name, noted?.text]).toEqual(["system-out", expect.stringContaining("came: HTTP 200, success true")]);
  });

  test("is well-formed, and gives back what was put in, whatever that is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (sentence, came) => {
        const root = parseXml(renderJunit(reportOf(sentence, came)));
        const failure = root.children[0]?.children[0]?.children[0];
        const expected = `${sentence}\nexpected: \ncame: ${came}\nsource: the interface, §1`;
        expect(failure?.text).toBe(expected.toWellFormed().replace(NOT_XML, "?"));
      }),
    );
  });
});

const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function reportOf(sentence: string, came: string): Report {
  const result = { id: "x", group: "v1.0.1", level: "must", sentence, source: "§1", outcome: "fails", came } as const;
  return {
    format: "topupd-conformance-1",
    ok: false,
    base: "",
    profile: "interface",
    topUp: false,
    counts: { holds: 0, fails: 1, noted: 0, skipped: 0 },
    unjudged: [],
    results: [result],
    notes: [],
  };
}

/** Reads the XML that there is here, and throws on anything that is not well-formed in it. */
function parseXml(xml: string): Element {
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const [declaration = ""] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(xml) ?? [];
  expect(declaration).not.toBe("");
  const token = /<\/([\w-]+)>|<([\w-]+)((?: [\w-]+="[^"<]*")*)(\/?)>|([^<>]+)/gy;
  token.lastIndex = declaration.length;
  while (token.lastIndex < xml.length) {
    const from = token.lastIndex;
    const match = token.exec(xml);
    if (match === null) throw new Error(`not well-formed at ${from}`);
    const [, closed, name, attributes = "", isEmpty, text] = match;
    const current = open.at(-1) as Element;
    if (text !== undefined) current.text += unescapeXml(text);
    if (closed !== undefined && open.pop()?.name !== closed) throw new Error(`${closed} was not open`);
    if (name === undefined) continue;
    const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
      key,
      unescapeXml(value),
    ]);
    const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: "" };
    expect(new Set(pairs.map(([key]) => key)).size).toBe(pairs.length);
    current.children.push(element);
    if (isEmpty === "") open.push(element);
  }
  expect(open).toEqual([root]);
  expect(root.children.length).toBe(1);
  return root.children[0] as Element;
}

function unescapeXml(text: string): string {
  expect(text).not.toMatch(NOT_XML);
  return text.replace(/&(\w*)(;?)/g, (_, name: string, end: string) => {
    const character = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }[name];
    if (character === undefined || end === "") throw new Error(`&${name} is no entity`);
    return character;
  });
}

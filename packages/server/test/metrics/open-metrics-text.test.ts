import { describe, expect, test } from "vitest";
import { readOpenMetrics } from "../support/open-metrics-text.ts";

/* The reader that scrapes are held against must itself be able to say no. */

const read = (...lines: string[]) => readOpenMetrics(new TextEncoder().encode(`${lines.join("\n")}\n`));
const GAUGE = "# TYPE a gauge";
const BUCKETS = ["# TYPE a histogram", 'a_bucket{le="1.0"} 1', 'a_bucket{le="+Inf"} 2'];

const GOOD: readonly (readonly [what: string, ...lines: string[]])[] = [
  ["nothing"],
  ["a family without a sample", GAUGE],
  [
    "a unit and a help",
    "# TYPE a_seconds gauge",
    "# UNIT a_seconds seconds",
    '# HELP a_seconds \\"x\\" \\\\ \\n',
    "a_seconds 1",
  ],
  ["escapes in a label", GAUGE, 'a{x="\\"\\\\\\n,{}=",y=""} -1.5e-07'],
  ["all kinds of numbers", GAUGE, 'a{x="1"} +Inf', 'a{x="2"} NaN', 'a{x="3"} .5', 'a{x="4"} 1E+21', 'a{x="5"} -0'],
  ["a counter", "# TYPE a counter", "a_total 3"],
  ["an info", "# TYPE a info", 'a_info{version="1"} 1'],
  ["a histogram", ...BUCKETS, "a_sum 2.5", "a_count 2"],
];

const BAD: readonly (readonly [what: string, ...lines: string[]])[] = [
  ["an empty line", GAUGE, "", "a 1"],
  ["a comment", GAUGE, "# a comment", "a 1"],
  ["a line that ends in a carriage return", GAUGE, "a 1\r"],
  ["a sample before any family", "a 1"],
  ["a family without a type", "# HELP a x", "a 1"],
  ["a type that there is not", "# TYPE a meter", "a 1"],
  ["a type twice", GAUGE, GAUGE, "a 1"],
  ["a help after a sample", GAUGE, "a 1", "# HELP a x"],
  ["a quote in a help", GAUGE, '# HELP a "x"', "a 1"],
  ["a unit that is not in the name", GAUGE, "# UNIT a seconds", "a 1"],
  ["an info with a unit", "# TYPE a_seconds info", "# UNIT a_seconds seconds", "a_seconds_info 1"],
  ["a family in two places", GAUGE, "a 1", "# TYPE b gauge", "b 1", GAUGE, 'a{x="1"} 1'],
  ["a sample of another family", GAUGE, "# TYPE b gauge", "a 1"],
  ["a counter whose family ends in _total", "# TYPE a_total counter", "a_total 1"],
  ["a counter below zero", "# TYPE a counter", "a_total -1"],
  ["a counter that is no number", "# TYPE a counter", "a_total NaN"],
  ["an info that is not 1", "# TYPE a info", "a_info 2"],
  ["a series twice", GAUGE, 'a{x="1",y="2"} 1', 'a{y="2",x="1"} 1'],
  ["a series twice, once with an empty label", GAUGE, "a 1", 'a{x=""} 1'],
  ["a family that another might be taken for", "# TYPE a counter", "a_total 1", "# TYPE a_total gauge", "a_total 1"],
  ["no number", GAUGE, "a one"],
  ["a hexadecimal number", GAUGE, "a 0x1"],
  ["two blanks", GAUGE, "a  1"],
  ["a blank at the end", GAUGE, "a 1 "],
  ["a timestamp", GAUGE, "a 1 1795000000"],
  ["a label twice", GAUGE, 'a{x="1",x="2"} 1'],
  ["a comma after the last label", GAUGE, 'a{x="1",} 1'],
  ["a label without quotes", GAUGE, "a{x=1} 1"],
  ["a reserved label", GAUGE, 'a{__x="1"} 1'],
  ["a bare quote in a label", GAUGE, 'a{x="1"2"} 1'],
  ["an escape that there is not", GAUGE, 'a{x="\\t"} 1'],
  [
    "a bound that is an integer",
    "# TYPE a histogram",
    'a_bucket{le="1"} 1',
    'a_bucket{le="+Inf"} 1',
    "a_sum 1",
    "a_count 1",
  ],
  ["a bucket without a bound", ...BUCKETS, "a_bucket 1", "a_sum 1", "a_count 2"],
  ["a histogram without a last bucket", "# TYPE a histogram", 'a_bucket{le="1.0"} 1', "a_sum 1", "a_count 1"],
  ["buckets that fall", "# TYPE a histogram", 'a_bucket{le="1.0"} 3', 'a_bucket{le="+Inf"} 2', "a_sum 1", "a_count 2"],
  ["a count that is not the last bucket's", ...BUCKETS, "a_sum 1", "a_count 3"],
  ["a bucket of half a thing", ...BUCKETS, "a_sum 1", "a_count 1.5"],
  ["a histogram that is scattered", ...BUCKETS, 'a_bucket{x="1",le="+Inf"} 0', "a_sum 2", "a_count 2"],
];

describe("the reader of OpenMetrics", () => {
  test.each(GOOD)("takes %s", (_what, ...lines) => {
    expect(() => read(...lines, "# EOF")).not.toThrow();
  });

  test.each(BAD)("refuses %s", (_what, ...lines) => {
    expect(() => read(...lines, "# EOF")).toThrow();
  });

  test("refuses a text without its end, with more behind it, or with other bytes than UTF-8 has", () => {
    expect(() => read(GAUGE, "a 1")).toThrow("# EOF");
    expect(() => read(GAUGE, "a 1", "# EOF", "")).toThrow("# EOF");
    expect(() => read(GAUGE, "# EOF", "a 1", "# EOF")).toThrow();
    expect(() => readOpenMetrics(Uint8Array.from([0xff, ...new TextEncoder().encode("\n# EOF\n")]))).toThrow();
  });
});

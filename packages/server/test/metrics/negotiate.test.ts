import { describe, expect, test } from "vitest";
import { OPEN_METRICS, PROMETHEUS_TEXT } from "../../src/metrics/exposition.ts";
import { chooseForm } from "../../src/metrics/negotiate.ts";

const OPEN = "application/openmetrics-text";

describe("OpenMetrics is chosen by an Accept header that", () => {
  test.each([
    ["names it", OPEN],
    ["names it in capitals", OPEN.toUpperCase()],
    ["names its version", `${OPEN}; version=1.0.0; charset=utf-8`],
    ["names its version in quotes", `${OPEN};version="1.0.0"`],
    ["likes it better", `text/plain;version=0.0.4;q=0.5,${OPEN};version=1.0.0;q=0.75`],
    ["likes both as much, and names it", `text/plain, ${OPEN}, */*`],
    ["takes anything else too", `${OPEN},*/*;q=0.9`],
    ["refuses the other", "text/plain;q=0,*/*"],
    ["refuses its former version", `${OPEN};version=0.0.1;q=0,${OPEN};q=0.1`],
  ])("%s", (_what, accept) => {
    expect(chooseForm(accept)).toBe(OPEN_METRICS);
  });
});

describe("Prometheus's text is chosen by an Accept header that", () => {
  test.each([
    ["is not there", undefined],
    ["is empty", ""],
    ["takes anything", "*/*"],
    ["names another version of OpenMetrics", `${OPEN};version=0.0.1`],
    ["likes it better", `${OPEN};q=0.2,text/plain;q=0.3`],
    ["likes anything better", `${OPEN};q=0.2,*/*;q=0.3`],
    ["likes anything better, but this version less", `${OPEN};version=1.0.0;q=0.1,${OPEN},text/plain;q=0.5`],
    ["refuses OpenMetrics", `${OPEN};q=0`],
    ["refuses OpenMetrics and takes anything else", `*/*,${OPEN};q=0.000`],
    ["gives a quality that is none", `${OPEN};q=2`],
    ["is a browser's", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
    ["wants neither", "image/png"],
    ["names OpenMetrics only within quotes", `text/plain;x=", ${OPEN};y="`],
    ["makes no sense", ';;,,="'],
  ])("%s", (_what, accept) => {
    expect(chooseForm(accept)).toBe(PROMETHEUS_TEXT);
  });
});

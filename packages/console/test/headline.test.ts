import { expect, test } from "vitest";
import { headlineOf } from "../src/pages/customers/headline.ts";

const NOW = "2026-11-23 10:00:00";
const span = (id: string, end: string, tone: "running" | "over" | "add-on" = "running") => ({ id, end, tone });
const of = (spans: readonly ReturnType<typeof span>[], status: "active" | "inactive" | "blocked" = "active") => {
  const { tone, span: shown } = headlineOf({ status }, spans, NOW);
  return [tone, shown?.id];
};

test("a connection is summed up by its running base plan that ends last", () => {
  const spans = [span("past", "2026-11-01 10:00:00", "over"), span("ip", "2027-06-10 10:00:00", "add-on")];
  expect(of([...spans, span("net", "2026-12-10 10:00:00"), span("tv", "2027-01-10 10:00:00")])).toEqual([
    "success",
    "tv",
  ]);
  expect(of(spans)).toEqual(["success", "ip"]);
});

test("three days left are a warning, and an ended subscription is a problem", () => {
  expect(of([span("net", "2026-11-27 10:00:00")])).toEqual(["success", "net"]);
  expect(of([span("net", "2026-11-27 09:59:59")])).toEqual(["warning", "net"]);
  expect(of([span("net", "2026-11-23 09:00:00", "over"), span("old", "2026-10-01 10:00:00", "over")])).toEqual([
    "danger",
    "net",
  ]);
});

test("a blocked or inactive connection, and one without subscriptions, is neutral", () => {
  expect(of([span("net", "2026-11-24 10:00:00")], "blocked")).toEqual(["neutral", "net"]);
  expect(of([span("net", "2026-11-01 10:00:00", "over")], "inactive")).toEqual(["neutral", "net"]);
  expect(of([])).toEqual(["neutral", undefined]);
});

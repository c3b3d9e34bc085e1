import { expect, test } from "vitest";
import { PREFIX, startTestService } from "../../server/test/support/service.ts";
import { runConformance } from "../src/index.ts";
import { failedIn, skippedIn } from "./support/conformance.ts";

/** The kit's waits show what a service books late: topupd books at once. */
const wait = async () => {};

const TRIAL = [
  // What each trial customer has not got, and what therefore cannot be judged of it.
  ["1000001", "iptv", ["iptv-items", "lookup-by-iptv-username", "iptv-listing"]],
  [
    "1000003",
    "internet or iptv",
    ["internet-items", "lookup-by-username", "iptv-items", "lookup-by-iptv-username", "iptv-listing"],
  ],
  ["1000004", "tv", ["tv-items", "lookup-by-stb"]],
] as const;

test.each(TRIAL)("topupd keeps to the interface and to its decisions, for %s without %s", async (code, _, unjudged) => {
  const service = await startTestService();
  const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const report = await runConformance({
    base,
    token: service.trialToken,
    code,
    topUp: true,
    profile: "topupd",
    wait,
  });
  expect(failedIn(report)).toEqual([]);
  const skipped = [...unjudged, "checkout-expires"];
  const groups = ["v1.0.1", "v1.0.0"];
  const webhook = ["arrives", "fact", "signed"].map((id) => `versions webhook-${id}`);
  expect(skippedIn(report).toSorted()).toEqual(
    [...groups.flatMap((group) => skipped.map((id) => `${group} ${id}`)), ...webhook].toSorted(),
  );
  expect([report.ok, report.notes]).toEqual([true, []]);
});

test("an iptv connection of topupd can be topped up", async () => {
  const service = await startTestService();
  const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const purchase = { service: "iptv" } as const;
  const options = { base, token: service.trialToken, code: "1000004", topUp: true, purchase, wait };
  expect(failedIn(await runConformance(options))).toEqual([]);
  const report = await runConformance({ ...options, profile: "topupd" });
  expect([failedIn(report), report.ok]).toEqual([[], true]);
});

test.each(["1000002", "1000005"])("too little can be judged of %s, or it holds, and nothing fails", async (code) => {
  const service = await startTestService();
  const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
  const report = await runConformance({ base, token: service.trialToken, code, profile: "topupd" });
  expect(failedIn(report)).toEqual([]);
  // A lapsed connection can be listed; an inactive customer's cannot.
  expect(report.ok).toBe(code === "1000002");
});

import { describe, expect, test } from "vitest";
import { check, failedIn, skippedIn } from "./support/conformance.ts";
import { CODE, MOBILE } from "./support/fake-data.ts";
import { LISTING, LOOK_UP, takes } from "./support/mutant.ts";

const TOP_UP = "subscription-package-topup";

describe("a service that is right by the interface", () => {
  test("holds, and gets no top-up unless that is asked for", async () => {
    const { report, provider } = await check({});
    expect({ failed: failedIn(report), ok: report.ok, notes: report.notes }).toEqual({
      failed: [],
      ok: true,
      notes: [],
    });
    expect(provider.requests.map(({ operation }) => operation)).not.toContain(TOP_UP);
  });

  test("holds with top-ups, of which each version gets one", async () => {
    const { report, provider } = await check({}, { topUp: true, expiry: true });
    expect({ failed: failedIn(report), skipped: skippedIn(report), ok: report.ok }).toEqual({
      failed: [],
      skipped: [],
      ok: true,
    });
    expect(provider.charged()).toBe(2);
  });

  test.each([
    ["looks customers up without a token", takes("missing_token", LOOK_UP), "answered with a customer"],
    ["lists without a token", takes("missing_token", LISTING), "answered with a checkoutId"],
    [
      "sends JSON as something else",
      {
        rewrite: ({ headers }: { headers: Record<string, string> }) => {
          headers["content-type"] = "text/html; charset=utf-8";
        },
      },
      "another Content-Type",
    ],
  ])("is told of it where it %s, and no more", async (_, fake, note) => {
    const { report } = await check(fake);
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
    expect(report.notes.map(({ text }) => text)).toEqual(Array(2).fill(expect.stringContaining(note)));
  });

  test("may be new to set-top boxes in v1.0.0", async () => {
    const { report } = await check({ isTvNew: true }, { topUp: true });
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
  });

  test("may show more fields, other statuses and an iptv of its own shape", async () => {
    const { report } = await check({
      rewrite: ({ json }) => {
        json.more = { nested: [null] };
        const { customer, connection } = json.body;
        const connections = customer?.connections ?? connection;
        if (connections?.iptv === undefined) return;
        connections.iptv = [{ device: 7 }];
        connections.tv[1].status = "suspended";
      },
    });
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
    expect(report.notes.map(({ text }) => text)).toEqual(Array(2).fill(expect.stringContaining("A status other than")));
  });

  test("may fail in a form of its own", async () => {
    const { report } = await check(
      {
        isTvNew: true,
        rewrite: (answer) => {
          if (answer.json.success === false) answer.json = { error: { message: "no" } };
        },
      },
      { topUp: true },
    );
    expect({ failed: failedIn(report), ok: report.ok, notes: report.notes }).toEqual({
      failed: [],
      ok: true,
      notes: [],
    });
  });

  test("may answer with another HTTP status, which is noted", async () => {
    const { report } = await check({
      rewrite: (answer) => {
        answer.status = 201;
      },
    });
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
    expect(report.notes.map(({ text }) => text)).toEqual(Array(2).fill(expect.stringContaining("another HTTP status")));
  });

  test("may show a top-up in the listing later than it answers it", async () => {
    let shown: unknown;
    let topUps = 0;
    const { report, provider } = await check(
      {
        rewrite: ({ json }, { operation }) => {
          if (operation === TOP_UP) topUps += 1;
          const packages = json.body.internet;
          if (packages === undefined) return;
          // Until the second request, the listing stays as it was before the first.
          if (topUps === 1) packages.subscriptions = shown;
          shown = structuredClone(packages.subscriptions);
        },
      },
      { topUp: true, versions: ["v1.0.1"] },
    );
    expect(failedIn(report)).toEqual([]);
    expect([topUps, provider.charged()]).toEqual([5, 1]);
  });

  test("may be asked for one version", async () => {
    const { report, provider } = await check({}, { versions: ["v1.0.0"], topUp: true });
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
    expect(new Set(provider.requests.map(({ version }) => version))).toEqual(new Set(["v1.0.0"]));
    expect(provider.charged()).toBe(1);
  });
});

describe("a service that decides as topupd does", () => {
  test.each([CODE, MOBILE])("holds in everything, for the code %s", async (code) => {
    const settings = { code, profile: "topupd", topUp: true, expiry: true } as const;
    const { report, provider } = await check({ isTopupd: true, practice: {} }, settings);
    expect({ failed: failedIn(report), skipped: skippedIn(report), ok: report.ok }).toEqual({
      failed: [],
      skipped: ["arrives", "signed", "fact"].map((id) => `versions webhook-${id}`),
      ok: true,
    });
    // One, and seven that practise, in each version.
    expect(provider.charged()).toBe(16);
  });

  test("gets no top-up unless that is asked for", async () => {
    const { report, provider } = await check({ isTopupd: true }, { profile: "topupd" });
    expect({ failed: failedIn(report), ok: report.ok }).toEqual({ failed: [], ok: true });
    expect(provider.requests.map(({ operation }) => operation)).not.toContain(TOP_UP);
  });
});

describe("what is bought", () => {
  test("is the cheapest bouquet of the first active connection", async () => {
    const { provider } = await check({}, { topUp: true, versions: ["v1.0.1"] });
    const sent = provider.requests.find(({ operation }) => operation === TOP_UP)?.fields;
    expect(sent).toMatchObject({ service: "internet", reqId: "maya.net", bouquetId: "IP-1M", amt: "150" });
    expect([String(sent?.["udf1"]).length, sent?.["udf2"]]).toEqual([30, undefined]);
  });

  test("can be chosen", async () => {
    const purchase = { service: "tv", reqId: "000700000000012", bouquetId: "TV-12M" } as const;
    const { report, provider } = await check({}, { topUp: true, versions: ["v1.0.1"], purchase });
    expect(report.ok).toBe(true);
    const sent = provider.requests.find(({ operation }) => operation === TOP_UP)?.fields;
    expect(sent).toMatchObject({ ...purchase, amt: "4950.5" });
  });

  test.each([{ bouquetId: "NET-9M" }, { reqId: "nobody" }, { service: "tv", reqId: "maya.net" }] as const)(
    "is nothing if the choice %j is not offered",
    async (purchase) => {
      const { report, provider } = await check({}, { topUp: true, purchase });
      expect(report).toMatchObject({ ok: false, counts: { fails: 0 } });
      expect(report.unjudged).toContain("v1.0.1 topup-success");
      expect(provider.requests.map(({ operation }) => operation)).not.toContain(TOP_UP);
    },
  );

  test("is said beforehand, without the whole username", async () => {
    const lines: string[] = [];
    await check({}, { topUp: true, versions: ["v1.0.1"], onProgress: (line) => lines.push(line) });
    const told = lines.indexOf("  v1.0.1: IP-1M at 150, for internet ...net");
    expect(told).toBeGreaterThan(-1);
    expect(lines.indexOf("v1.0.1: topping up")).toBeGreaterThan(told);
  });
});

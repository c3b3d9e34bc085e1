import { describe, expect, test } from "vitest";
import { runConformance } from "../src/index.ts";
import { check, failedIn, type Settings } from "./support/conformance.ts";
import { CODE, TOKEN } from "./support/fake-data.ts";
import { type FakeOptions, type FakeProvider, startFakeProvider } from "./support/fake-provider.ts";
import { onPackages, QUERY, TOP_UP } from "./support/mutant.ts";
import { extendOtherForm } from "./support/topupd-spending-mutants.ts";

const TOPUPD: Settings = { profile: "topupd", topUp: true };
const PLAIN: Settings = { topUp: true };

/** How many top-ups were sent in each version. */
function topUpsIn({ requests }: FakeProvider): { "v1.0.1": number; "v1.0.0": number } {
  const count = (version: string) =>
    requests.filter((request) => request.operation === TOP_UP && request.version === version).length;
  return { "v1.0.1": count("v1.0.1"), "v1.0.0": count("v1.0.0") };
}

const refused = { success: false, code: "400ab106", body: { reason: "amount_mismatch", retry: "fix_request" } };

describe("once something else than announced may have been bought, nothing more is sent in any version", () => {
  const pending: FakeOptions = {
    rewrite: (answer, { operation, fields }) => {
      if (operation === TOP_UP && fields["amt"] === "1")
        Object.assign(answer, { status: 202, json: { code: "pending" } });
    },
  };
  const busy: FakeOptions = {
    rewrite: (answer, { operation, fields }) => {
      if (operation === TOP_UP && fields["amt"] === "1") Object.assign(answer, { status: 500, json: refused });
    },
  };
  const secretly: FakeOptions = {
    takesAnyAmount: true,
    rewrite: (answer, { operation, fields }) => {
      if (operation === TOP_UP && fields["amt"] === "1") Object.assign(answer, { status: 422, json: refused });
    },
  };
  const moreSecretly: FakeOptions = {
    ...secretly,
    rewrite: (answer, request) => {
      secretly.rewrite?.(answer, request);
      if (request.operation === QUERY) Object.assign(answer, { status: 404, json: refused });
    },
  };

  const silent: FakeOptions = {
    hangsUp: ({ operation }) => operation === QUERY,
  };
  const unclear: FakeOptions = {
    rewrite: (answer, { operation }) => {
      if (operation === QUERY) answer.status = 500;
    },
  };

  test.each([
    ["txn-status is silent after a wrong amount", silent, 1, 0],
    ["txn-status is broken after a wrong amount", unclear, 1, 0],
    ["a wrong amount is taken", { takesAnyAmount: true }, 1, 1],
    ["a wrong amount is neither taken nor refused", pending, 1, 0],
    ["a wrong amount ends in HTTP 500", busy, 1, 0],
    ["a wrong amount is refused, and txn-status tells that it was taken", secretly, 1, 1],
    ["a wrong amount is refused, and the listing tells that it was taken", moreSecretly, 1, 1],
    ["a top-up for another connection is taken", { takesAnyOther: "reqId" }, 3, 1],
    ["a top-up for another customer is taken", { takesAnyOther: "cuid" }, 4, 1],
    ["a checkoutId buys twice", { onReuse: "charge" }, 6, 2],
    ["a checkoutId extends twice behind one transaction", { onReuse: "extend" }, 6, 1],
  ] as const)("with the profile: %s", async (_, fake, sent, charged) => {
    const { report, provider } = await check({ isTopupd: true, ...fake }, TOPUPD);
    expect(topUpsIn(provider)).toEqual({ "v1.0.1": sent, "v1.0.0": 0 });
    expect(provider.charged()).toBe(charged);
    expect(report.unjudged).toContain("v1.0.0 topup-success");
    const [reason] = report.results.flatMap(({ group, id, reason }) =>
      group === "v1.0.0" && id === "topup-success" ? [reason] : [],
    );
    expect(reason).toBe("nothing is bought after the doubtful top-up in v1.0.1");
  });

  test("with the profile: txn-status is silent after a repeat", async () => {
    let topUps = 0;
    const hangsUp: FakeOptions["hangsUp"] = ({ operation }) => {
      if (operation === TOP_UP) topUps += 1;
      return operation === QUERY && topUps === 6;
    };
    const { provider } = await check({ isTopupd: true, hangsUp }, TOPUPD);
    expect(topUpsIn(provider)).toEqual({ "v1.0.1": 6, "v1.0.0": 0 });
  });

  test.each([
    ["without the profile: a repeat is silent", 2, PLAIN],
    ["with the profile: a repeat is silent", 6, TOPUPD],
    ["with the profile: a repeat in another form is silent", 8, TOPUPD],
  ] as const)("%s", async (_, last, settings) => {
    let topUps = 0;
    const hangsUp: FakeOptions["hangsUp"] = ({ operation }) => {
      if (operation === TOP_UP) topUps += 1;
      return operation === TOP_UP && topUps === last;
    };
    const { report, provider } = await check({ isTopupd: true, hangsUp }, settings);
    expect(topUpsIn(provider)).toEqual({ "v1.0.1": last, "v1.0.0": 0 });
    expect([provider.charged(), report.ok]).toEqual([1, false]);
  });

  test("with the profile: a form of the repeat that comes later buys again", async () => {
    const { report, provider } = await check({ isTopupd: true, ...extendOtherForm() }, TOPUPD);
    expect(topUpsIn(provider)).toEqual({ "v1.0.1": 7, "v1.0.0": 0 });
    expect(failedIn(report)).toContain("repeats-record-nothing");
  });

  test.each([
    ["the checkoutId buys twice", { onReuse: "charge" }, 2],
    ["the top-up is not answered", { hangsUp: ({ operation }) => operation === TOP_UP }, 1],
    ["neither the top-up nor txn-status is", { hangsUp: ({ operation }) => [TOP_UP, QUERY].includes(operation) }, 1],
    [
      "the top-up fails, and txn-status tells of it",
      {
        rewrite: (answer, { operation }) => {
          if (operation === TOP_UP) answer.json = { success: false, code: "E", body: {} };
        },
      },
      1,
    ],
    [
      "the top-up ends in HTTP 500, and txn-status tells of nothing",
      {
        rewrite: (answer, { operation }) => {
          if (operation === TOP_UP || operation === QUERY) Object.assign(answer, { status: 500, json: refused });
        },
      },
      1,
    ],
  ] as readonly (readonly [string, FakeOptions, number])[])("without it: %s", async (_, fake, charged) => {
    const { report, provider } = await check(fake, PLAIN);
    expect([topUpsIn(provider)["v1.0.0"], provider.charged(), report.ok]).toEqual([0, charged, false]);
  });
});

describe("with the profile, the top-up of the second version", () => {
  test("is made with one of its own where a checkoutId of the other one is refused, and only once", async () => {
    const { report, provider } = await check({ isTopupd: true, bindsToVersion: true }, TOPUPD);
    expect([failedIn(report), provider.charged()]).toEqual([["checkout-elsewhere"], 2]);
    expect(topUpsIn(provider)).toEqual({ "v1.0.1": 19, "v1.0.0": 20 });
  });

  test("is not made again where a checkoutId of the other one was refused, and bought all the same", async () => {
    const used = new Set<unknown>();
    const { report, provider } = await check(
      {
        isTopupd: true,
        rewrite: (answer, { operation, version, fields: { checkoutId } }) => {
          if (operation !== TOP_UP || answer.json.success !== true || used.has(checkoutId)) return;
          used.add(checkoutId);
          if (version === "v1.0.0") Object.assign(answer, { status: 404, json: refused });
        },
      },
      TOPUPD,
    );
    expect(failedIn(report)).toContain("checkout-elsewhere");
    expect([topUpsIn(provider), provider.charged(), report.ok]).toEqual([{ "v1.0.1": 18, "v1.0.0": 6 }, 2, false]);
  });
});

describe("the top-up for another connection that must be refused", () => {
  test.each([
    ["tv", "000700000000011", "000700000000012"],
    ["internet", "maya.net", "no-such-connection"],
  ] as const)("is for another of the customer's own if there is one: %s", async (service, reqId, other) => {
    const { provider } = await check({ isTopupd: true }, { ...TOPUPD, purchase: { service } });
    const sent = provider.requests.filter(({ operation }) => operation === TOP_UP).map(({ fields }) => fields);
    // Before the top-up: what comes after it buys nothing, wherever it is for.
    expect(new Set(sent.slice(0, 5).map((fields) => fields["reqId"]))).toEqual(new Set([reqId, other]));
    expect(new Set(sent.map((fields) => fields["cuid"]))).toEqual(new Set([CODE, "no-such-customer"]));
    for (const fields of sent) expect(fields["reqId"] === reqId || fields["cuid"] === CODE).toBe(true);
    expect(provider.charged()).toBe(2);
  });

  test("is not sent without the profile", async () => {
    const { provider } = await check({ isTopupd: true }, PLAIN);
    const sent = provider.requests.filter(({ operation }) => operation === TOP_UP);
    expect(new Set(sent.map(({ fields }) => fields["reqId"]))).toEqual(new Set(["maya.net"]));
  });
});

test("a version that refuses its top-up leaves the other one to be topped up", async () => {
  const { provider } = await check({ freeFieldMaxLength: 29 }, PLAIN);
  expect([topUpsIn(provider), provider.charged()]).toEqual([{ "v1.0.1": 1, "v1.0.0": 5 }, 1]);
});

describe("the price that is sent", () => {
  const both = onPackages(({ bouquets }, { version }) => {
    for (const bouquet of bouquets) bouquet[version === "v1.0.0" ? "price" : "amt"] = 7;
  });

  test("is the one by the version's own name", async () => {
    const { report, provider } = await check(both, PLAIN);
    const sent = provider.requests.filter(({ operation }) => operation === TOP_UP).map(({ fields }) => fields["amt"]);
    expect(new Set(sent)).toEqual(new Set(["150", "1"]));
    expect([report.ok, provider.charged()]).toEqual([true, 2]);
  });

  test("is the announced one: nothing is bought at another", async () => {
    let listed = 0;
    const { report, provider } = await check(
      onPackages(({ bouquets }) => {
        listed += 1;
        for (const bouquet of bouquets) bouquet.price += listed;
      }),
      { ...PLAIN, versions: ["v1.0.1"] },
    );
    expect([topUpsIn(provider)["v1.0.1"], provider.charged()]).toEqual([0, 0]);
    const { reason } = report.results.find(({ id }) => id === "topup-success") ?? {};
    expect(reason).toBe("the bouquet or its price has changed meanwhile");
  });

  test.each([" ", "", "free", "-5", -5, 0, "0.00", 1e21, "1e2", "5,00", null])("is never %j", async (price) => {
    const { provider } = await check(
      onPackages(({ bouquets }, { version }) => {
        bouquets.push({ code: "ODD", name: "Odd (MONTHLY)", [version === "v1.0.0" ? "amt" : "price"]: price });
      }),
      PLAIN,
    );
    const sent = provider.requests.filter(({ operation }) => operation === TOP_UP);
    expect(sent.length).toBe(10);
    expect(sent.map(({ fields }) => fields["bouquetId"])).not.toContain("ODD");
  });
});

describe("txn-status that is a moment late", () => {
  const late = (times: number): FakeOptions => {
    const asked = new Map<unknown, number>();
    return {
      rewrite: (answer, { operation, fields: { checkoutId } }) => {
        if (operation !== QUERY || answer.json.success !== true) return;
        asked.set(checkoutId, (asked.get(checkoutId) ?? 0) + 1);
        if ((asked.get(checkoutId) ?? 0) <= times) answer.json = { success: false, code: "E", body: {} };
      },
    };
  };

  test.each([1, 4])("is asked again, and only noted: %i times without the top-up", async (times) => {
    const { report, provider } = await check(late(times), PLAIN);
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 2]);
    expect(report.notes.map(({ text }) => text)).toEqual(Array(2).fill(expect.stringContaining("asked again")));
  });

  test("is not waited for without end", async () => {
    const { report } = await check(late(100), PLAIN);
    expect(failedIn(report)).toEqual(["txn-status-success"]);
  });
});

describe("what a program without types gives", () => {
  test.each(["false", "true", 1, {}])("buys nothing for topUp %j", async (topUp) => {
    const { report, provider } = await check({}, { topUp } as unknown as Settings);
    expect([provider.charged(), report.topUp]).toEqual([0, false]);
  });

  test("is refused for a profile that there is not", async () => {
    const { base, requests } = await startFakeProvider();
    const options = { base, token: TOKEN, code: CODE, profile: "Topupd" as "topupd" };
    await expect(runConformance(options)).rejects.toThrow("the profile can only be topupd");
    expect(requests).toEqual([]);
  });

  test("may leave members of the purchase undefined", async () => {
    const purchase = { service: undefined, reqId: undefined } as unknown as NonNullable<Settings["purchase"]>;
    expect((await check({}, { purchase })).report.ok).toBe(true);
  });
});

describe("what is announced", () => {
  async function linesOf(fake: FakeOptions, settings: Settings = {}): Promise<string[]> {
    const lines: string[] = [];
    await check(fake, { ...PLAIN, ...settings, onProgress: (line) => lines.push(line) });
    return lines;
  }

  test("tells of the top-ups that had better buy nothing", async () => {
    const lines = (await linesOf({}, { expiry: true })).join("\n");
    for (const what of ["a wrong amount, another customer, no access token", "an expired checkoutId"]) {
      expect(lines).toContain(what);
    }
  });

  test("tells of the other top-up requests of the profile, and how many they are", async () => {
    const lines = await linesOf({ isTopupd: true }, { profile: "topupd" });
    expect(lines).toContain("  with the profile, up to 20 top-up requests are sent in each version:");
    const { provider } = await check({ isTopupd: true }, TOPUPD);
    expect([topUpsIn(provider), provider.charged()]).toEqual([{ "v1.0.1": 19, "v1.0.0": 19 }, 2]);
  });

  test.each([TOKEN, "9812345678", CODE, "Mayadevi", "gurungseni", "maya.net"])(
    "holds no %s that the service put into what it sells",
    async (secret) => {
      const fake = onPackages(({ bouquets }) => {
        for (const bouquet of bouquets) bouquet.code = `X-${secret}-1`;
      });
      const lines = await linesOf(fake, { code: "9812345678" });
      expect(lines).toContain("  v1.0.1: (withheld) at 150, for internet ...net");
      expect(lines.join("\n")).not.toContain(secret);
    },
  );

  test("holds no price that is somebody's number", async () => {
    const lines = await linesOf(
      onPackages(({ bouquets }) => {
        for (const bouquet of bouquets)
          for (const name of ["price", "amt"]) if (name in bouquet) bouquet[name] = 4400017;
      }),
    );
    expect(lines).toContain("  v1.0.1: NET-3M at (withheld), for internet ...net");
  });
});

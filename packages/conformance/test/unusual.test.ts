import { describe, expect, test } from "vitest";
import { type Outcome, run } from "./support/command.ts";
import { check, failedIn, type Settings, skippedIn } from "./support/conformance.ts";
import { CODE, TOKEN } from "./support/fake-data.ts";
import { type FakeOptions, startFakeProvider } from "./support/fake-provider.ts";
import { LISTING, LOOK_UP, on, onPackages, QUERY, TOP_UP } from "./support/mutant.ts";

const TOP_UPS: Settings = { topUp: true };

/* Services that are right by the interface, in ways that few would think of. */

describe("a service may refuse in any form", () => {
  test.each([
    { success: "false", code: "E" },
    { success: 0, message: "no" },
    { success: null, error: "no" },
    { code: "E", body: { message: "no" } },
    { body: {} },
    {},
    [],
  ])("such as HTTP 422 with %j", async (form) => {
    const { report, provider } = await check(refusing(422, form), TOP_UPS);
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 2]);
  });

  test("such as HTTP 404 with nothing in it", async () => {
    const { report, provider } = await check(refusing(404, {}, ""), TOP_UPS);
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 2]);
  });

  test("and say of an unused checkoutId that there is none, in a result without a name", async () => {
    const none = { success: true, code: "400ab001", body: { result: { orderId: null, txnId: "", status: "NONE" } } };
    const { report } = await check({
      rewrite: (answer, { operation }) => {
        if (operation === QUERY && answer.json.success === false) answer.json = none;
      },
    });
    expect([failedIn(report), report.ok]).toEqual([[], true]);
  });

  test("and call a code ambiguous", async () => {
    for (const form of [
      { status: 409, json: { success: false, code: "E", body: {} } },
      { status: 200, json: { success: false, code: "E", body: { reason: "ambiguous_code" } } },
    ]) {
      const { report } = await check({
        rewrite: (answer, { operation, fields }) => {
          if (operation === LOOK_UP && fields["code"] === "000700000000011") Object.assign(answer, form);
        },
      });
      expect([failedIn(report), report.ok]).toEqual([[], true]);
      expect(skippedIn(report)).toContain("v1.0.1 lookup-by-stb");
    }
  });

  test("and answer a repeat with an attempt that was rejected", async () => {
    const rejected = { success: true, code: "400ab001", body: { result: { txnId: "R-1", status: "rejected" } } };
    const { report, provider } = await check(
      {
        rewrite: (answer, { operation }) => {
          if (operation === TOP_UP && answer.json.success === false) answer.json = rejected;
        },
      },
      TOP_UPS,
    );
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 2]);
  });
});

function refusing(status: number, json: unknown, text?: string): FakeOptions {
  return {
    isTvNew: true,
    rewrite: (answer) => {
      if (answer.json.success === false) Object.assign(answer, { status, json, text });
    },
  };
}

describe("a service may be older or newer than its version", () => {
  test("with more of its own under the other version's name", async () => {
    const { report } = await check(
      on(LOOK_UP, ({ body }, { version }) => {
        if (version === "v1.0.0") body.customer.connections = { total: 3 };
        else body.connection = { total: 3 };
      }),
      TOP_UPS,
    );
    expect([failedIn(report), report.ok]).toEqual([[], true]);
  });

  test("without tv in v1.0.0", async () => {
    const { report } = await check(
      {
        isTvNew: true,
        rewrite: ({ json }, { version }) => {
          if (version === "v1.0.0" && json.body.connection !== undefined) delete json.body.connection.tv;
        },
      },
      TOP_UPS,
    );
    expect([failedIn(report), report.ok]).toEqual([[], true]);
  });
});

test.each(["Δίκτυο (ΜΗΝΙΑΙΟ)", "Сеть (ЕЖЕМЕСЯЧНО)", "फाइबर (मासिक)", "ÉTÉ (MOIS)"])(
  "a period may be in any script: %s",
  async (name) => {
    const { report } = await check(
      onPackages(({ bouquets }) => {
        for (const bouquet of bouquets) bouquet.name = name;
      }),
    );
    expect(failedIn(report)).toEqual([]);
  },
);

test("a subscription may have no date in the form of one", async () => {
  const { report } = await check(
    onPackages(({ subscriptions }) => {
      subscriptions[0].startdate = "0000-00-00 00:00:00";
    }),
  );
  expect([failedIn(report), report.ok]).toEqual([[], true]);
});

test("a service is asked for answers as they are, so that it may compress others", async () => {
  const { provider } = await check({}, TOP_UPS);
  expect(new Set(provider.requests.map(({ encoding }) => encoding))).toEqual(new Set(["identity"]));
});

test("a service that compresses all the same cannot be judged, and is told so", async () => {
  const { base } = await startFakeProvider({
    rewrite: (answer) => Object.assign(answer, { json: undefined, headers: { "content-encoding": "gzip" } }),
  });
  const { code, stdout } = await run(["--base", base, "--code", CODE, "--token", TOKEN]);
  expect(code).toBe(1);
  expect(stdout).toContain("skipped: a compressed answer, not asked for");
  expect(stdout).toContain("0 fail");
  expect(stdout).toContain("heed Accept-Encoding: identity");
});

describe("a service that limits requests", () => {
  /** Answers each request with 429 until it comes again. */
  function limiting(retryAfter: string | undefined, isLimited: (operation: string) => boolean): FakeOptions {
    let turn = 0;
    return {
      rewrite: (answer, { operation }) => {
        turn += 1;
        if (!isLimited(operation) || turn % 2 === 0) return;
        const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
        Object.assign(answer, { status: 429, headers, json: { success: false, code: "R", body: {} } });
      },
    };
  }

  test.each([
    ["3", 3000],
    [undefined, 1000],
    ["Fri, 20 Nov 2026 09:00:00 GMT", 1000],
  ])("is given the time it asks for: Retry-After %s", async (retryAfter, askedMs) => {
    const waited: number[] = [];
    const wait = async (durationMs: number) => void waited.push(durationMs);
    const { report } = await check(
      limiting(retryAfter, () => true),
      { wait },
    );
    expect([failedIn(report), report.ok]).toEqual([[], true]);
    expect(new Set(waited)).toEqual(new Set([askedMs]));
  });

  test("is not waited for longer than half a minute, and not blamed", async () => {
    const { report, provider } = await check(limiting("3600", (operation) => operation === LOOK_UP));
    expect([failedIn(report), report.ok]).toEqual([[], false]);
    expect(report.results.find(({ id }) => id === "lookup-json")?.reason).toBe("the service asks to wait");
    expect(provider.requests.filter(({ isAuthorized }) => isAuthorized).length).toBeLessThan(4);
  });

  test("is not sent a top-up again, and not blamed", async () => {
    const { report, provider } = await check(
      {
        freeFieldMaxLength: 29,
        rewrite: (answer, { operation }) => {
          if (operation === TOP_UP) answer.status = 429;
        },
      },
      { topUp: true, versions: ["v1.0.1"] },
    );
    expect(provider.requests.filter(({ operation }) => operation === TOP_UP).length).toBe(1);
    expect([failedIn(report), report.ok]).toEqual([[], false]);
    expect(report.unjudged).toContain("v1.0.1 topup-success");
  });
});

describe("a service that stops offering what was bought", () => {
  const runOn = async (...words: string[]): Promise<Outcome> => {
    const bought = new Set<unknown>();
    const { base } = await startFakeProvider({
      rewrite: ({ json }, { operation, fields: { bouquetId } }) => {
        if (operation === TOP_UP && json.success === true) bought.add(bouquetId);
        const packages = operation === LISTING ? json.body.internet : undefined;
        // biome-ignore lint/suspicious/noExplicitAny: as it comes
        if (packages !== undefined) packages.bouquets = packages.bouquets.filter(({ code }: any) => !bought.has(code));
      },
    });
    return run(["--base", base, "--code", CODE, "--token", TOKEN, "--top-up", ...words]);
  };

  test("is not blamed, and the advice is what helps", async () => {
    const both = await runOn();
    expect(both.code).toBe(1);
    expect(both.stdout).toContain("0 fail");
    expect(both.stdout).toContain("Check that version in a run of its own, with --api");
    expect((await runOn("--api", "v1.0.0")).code).toBe(0);
  });
});

describe("long answers", () => {
  const longer = (operation: string, by: number): FakeOptions => ({
    rewrite: (answer, request) => {
      if (request.operation === operation) answer.text = JSON.stringify(answer.json) + " ".repeat(by);
    },
  });

  test("of a listing cannot be judged, and are not blamed", async () => {
    const { report } = await check(longer(LISTING, 4 * 1024 * 1024), TOP_UPS);
    expect([failedIn(report), report.ok]).toEqual([[], false]);
    const [listing] = report.results.filter(({ id }) => id === "listing-json");
    expect(listing?.reason).toBe("an answer of more than 4194304 bytes");
  });

  test("may be so many that only short ones are read, and a top-up's is", async () => {
    const { report, provider } = await check(longer(LOOK_UP, 3_500_000), TOP_UPS);
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], false, 1]);
    const outcomes = report.results.filter(({ id }) => ["lookup-json", "topup-success"].includes(id));
    expect(outcomes.map(({ group, id, outcome }) => `${group} ${id} ${outcome}`)).toEqual([
      "v1.0.1 lookup-json holds",
      "v1.0.1 topup-success holds",
      "v1.0.0 lookup-json skipped",
      "v1.0.0 topup-success skipped",
    ]);
  });

  test("may be so many that a listing can no longer be read, and then nothing is bought", async () => {
    const { report, provider } = await check(longer(LISTING, 3_500_000), TOP_UPS);
    expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], false, 0]);
  });
});

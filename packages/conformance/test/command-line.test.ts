import { describe, expect, test } from "vitest";
import { type Outcome, run } from "./support/command.ts";
import { CODE, CUSTOMER, MOBILE, TOKEN } from "./support/fake-data.ts";
import { type FakeOptions, startFakeProvider } from "./support/fake-provider.ts";
import { SECRET } from "./support/fake-webhook.ts";
import { freeUrl } from "./support/server.ts";

const COMPLETE = ["--base", "http://127.0.0.1:1/v1.0.1", "--code", CODE, "--token", TOKEN];

const TOPUPD = [...COMPLETE, "--top-up", "--profile", "topupd"];
const WEBHOOK = ["--webhook-port", "0", "--webhook-secret", SECRET];

async function runOn(fake: FakeOptions, ...words: string[]): Promise<Outcome> {
  const { base } = await startFakeProvider(fake);
  return run(["--base", base, "--code", MOBILE, ...words], { env: { CONFORMANCE_TOKEN: TOKEN } });
}

/** A service of which much is wrong, in each version. */
const BROKEN: FakeOptions = {
  isTopupd: true,
  onReuse: "charge",
  rewrite: ({ json, headers }) => {
    json.code = 7;
    headers["x-request-id"] = "";
    for (const bouquet of json.body.tv?.bouquets ?? []) bouquet.name = `${MOBILE} ${CUSTOMER.last_name}`;
    if (json.body.customer !== undefined) json.body.customer.first_name = [CUSTOMER.first_name];
    if (json.body.customer !== undefined) json.body.customer.status = `${CUSTOMER.first_name} is away`;
  },
};

describe("the exit code", () => {
  test("is 0 where all holds", async () => {
    const { code, stdout, stderr } = await runOn({ isTopupd: true }, "--profile", "topupd", "--top-up");
    expect(code).toBe(0);
    expect(stdout).toContain("hold, 0 fail");
    expect(stderr).toContain("v1.0.0: topping up\n");
  });

  test("is 0 though the webhook cannot be judged; it is received with the secret of the environment", async () => {
    const { base } = await startFakeProvider({ isTopupd: true });
    const words = ["--base", base, "--code", MOBILE, "--top-up", "--profile", "topupd", "--webhook-port", "0"];
    const env = { CONFORMANCE_TOKEN: TOKEN, CONFORMANCE_WEBHOOK_SECRET: SECRET };
    const { code, stdout, stderr } = await run(words, { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^webhooks: listening on http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(stdout).toMatch(/webhook-arrives +skipped: there is no practice customer/);
  });

  test("is 1 where something fails", async () => {
    const { code, stdout } = await runOn(BROKEN);
    expect(code).toBe(1);
    expect(stdout).toContain("The service does not keep to the interface.");
  });

  test("is 1 where too little could be judged", async () => {
    const { code, stdout } = await runOn({
      rewrite: ({ json }) => {
        const connections = json.body.customer?.connections ?? json.body.connection;
        if (connections !== undefined) Object.assign(connections, { tv: [], internet: [], iptv: [] });
      },
    });
    expect(code).toBe(1);
    expect(stdout).toContain("too little could be judged");
    expect(stdout).toContain("  v1.0.1  listing-json, listing-success, listing-code,");
  });

  test("is 2 if the access token is wrong, and says so in one line with topupd's reason", async () => {
    const { base } = await startFakeProvider({ isTopupd: true });
    const { code, stdout, stderr } = await run(["--base", base, "--code", CODE, "--token", "made-up"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trim().split("\n").at(-1)).toBe(
      "conformance: the service refuses the access token (HTTP 401, unknown_token). Check the token and --base.",
    );
  });

  test("is 3 where nobody answers", async () => {
    const url = await freeUrl();
    const { code, stdout, stderr } = await run(["--base", url, "--code", CODE, "--token", TOKEN]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(
      new RegExp(
        `^conformance: ${new URL(url).origin} cannot be reached: the connection failed \\(ECONNREFUSED\\)$`,
        "m",
      ),
    );
  });
});

describe("a look-up that fails", () => {
  test("is said to be the cause, and what may be wrong", async () => {
    const { base } = await startFakeProvider();
    const { code, stdout } = await run(["--base", base, "--code", "nobody", "--token", TOKEN]);
    expect(code).toBe(1);
    expect(stdout).toContain("  - tv-items                 skipped: the look-up brought nothing to go on with\n");
    expect(stdout).toContain("are --code, the access token and --base right?");
  });
});

describe("wrong usage", () => {
  test.each([
    [["--code", CODE, "--token", TOKEN], "--base <url>"],
    [["--base", "http://127.0.0.1:1/v1.0.1", "--token", TOKEN], "--code <code>"],
    [["--base", "http://127.0.0.1:1/v1.0.1", "--code", CODE], "set CONFORMANCE_TOKEN"],
    [[...COMPLETE, "--base", "topup.example"], "must look like https://"],
    [[...COMPLETE, "--base", "https://me:word@topup.example"], "no user, password"],
    [[...COMPLETE, "--base", "https://topup.example/?a=1"], "no user, password, query"],
    [[...COMPLETE, "--base", "ftp://topup.example"], "must look like https://"],
    [[...COMPLETE, "--token", "two words"], "one word"],
    [[...COMPLETE, "--token", "a\nb"], "one word"],
    [[...COMPLETE, "--code", " "], "must name a customer"],
    [[...COMPLETE, "--expiry"], "--expiry needs --top-up"],
    [[...COMPLETE, ...WEBHOOK], "--webhook-port needs --top-up and --profile topupd"],
    [[...COMPLETE, "--webhook-port", "9000"], "set CONFORMANCE_WEBHOOK_SECRET"],
    [[...COMPLETE, "--webhook-secret", SECRET], "give --webhook-port"],
    [[...TOPUPD, ...WEBHOOK, "--webhook-port", "x"], "a number up to 65535"],
    [[...TOPUPD, ...WEBHOOK, "--webhook-secret", "x"], "must be whsec_ and base64"],
    [[...COMPLETE, "--api", "v1.0.2"], "among v1.0.1,v1.0.0"],
    [[...COMPLETE, "--api", "v1.0.1,v1.0.1"], "each version can be given once"],
    [[...COMPLETE, "--base", "https://topup.example"], "must end with v1.0.1 or v1.0.0"],
    [[...COMPLETE, "--base", "https://topup.example/v1.0.1/txn-status"], "must end with v1.0.1 or v1.0.0"],
    [[...COMPLETE, "--timeout", "soon"], "seconds, such as 10"],
    [[...COMPLETE, "--timeout", "0"], "from 1 to 600 seconds"],
    [[...COMPLETE, "--timeout", "0.001"], "from 1 to 600 seconds"],
    [[...COMPLETE, "--base", "http://topup.example?"], "no user, password, query"],
    [[...COMPLETE, "--base", "http://topup.example/#"], "no user, password, query"],
    [[...COMPLETE, "--json", "report", "--junit", "./report"], "need a file each"],
    [[...COMPLETE, "--profile", "other"], "Allowed choices are topupd"],
    [[...COMPLETE, "--bouquet", "NET-1M"], "with --top-up only"],
    [[...COMPLETE, "--top-up", "--service", "radio"], "tv, internet or iptv"],
    [[...COMPLETE, "--token-file", "token.txt"], "not both"],
    [[...COMPLETE, "--json", "-", "--junit", "-"], "only one of"],
    [[...COMPLETE, "--topup"], "Did you mean --top-up?"],
    [[...COMPLETE, "more"], "too many arguments"],
    [["--base", "http://127.0.0.1:1/v1.0.1", "--code", CODE, "--token-file", "none.txt"], "--token-file: ENOENT"],
  ])("of %j ends with 2, and is told what to do", async (words, said) => {
    const { code, stdout, stderr } = await run(words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
    expect(stderr).toContain("--help");
    expect(stderr).toMatch(/^conformance: .+\n(.+\n)?For example:\n {2}conformance --base /);
  });

  test("of a file for the report that cannot be written ends with 2, before anything is sent", async () => {
    const { base, requests } = await startFakeProvider();
    const words = ["--base", base, "--code", CODE, "--token", TOKEN, "--top-up"];
    const { code, stdout, stderr } = await run([...words, "--json", "/nowhere/report.json", "--junit", "-"]);
    expect([code, stdout, requests]).toEqual([2, "", []]);
    expect(stderr).toContain("/nowhere/report.json: ENOENT; give another file");
  });

  test("empties no file", async () => {
    const { files } = await run([...COMPLETE, "--timeout", "0", "--json", "report.json"]);
    expect([...files.keys()]).toEqual([]);
  });

  test.each([
    [[`--toke=${TOKEN}`], "conformance: unknown option '--toke'"],
    [[`--${TOKEN}`], "conformance: unknown option\n"],
    [[`-t${TOKEN}`], "conformance: unknown option\n"],
    [["--tokens", TOKEN], "conformance: unknown option '--tokens'"],
    [["--profile", TOKEN], "'--profile <name>' argument is invalid. Allowed choices are topupd."],
    [["--profile", `${TOKEN}'\n'`], "argument is invalid. Allowed choices are topupd."],
    [["--token-file", TOKEN], "--token-file: ENOENT"],
    [[TOKEN], "too many arguments"],
    [["--base", TOKEN], "must look like https://"],
    [["--api", TOKEN], "among v1.0.1,v1.0.0"],
    [["--timeout", TOKEN], "seconds, such as 10"],
    [["--base", `https://topup.example/${TOKEN}`], "must end with"],
  ])("of %j does not repeat a token in the wrong place", async (words, said) => {
    const { code, stdout, stderr } = await run(["--base", "http://127.0.0.1:1/v1.0.1", "--code", CODE, ...words], {
      env: { CONFORMANCE_TOKEN: "another-one" },
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(TOKEN);
  });
});

describe("what goes wrong after everything was sent", () => {
  const WORDS = ["--code", CODE, "--token", TOKEN, "--json", "report.json", "--junit", "report.xml"];

  test("in one file ends with 2, and leaves the other outputs written", async () => {
    const { base } = await startFakeProvider();
    const { code, stdout, stderr, files } = await run(["--base", base, ...WORDS], { full: ["report.json"] });
    expect(code).toBe(2);
    expect(stderr).toContain("report.json: ENOSPC; give another file");
    expect(stdout).toContain("0 fail");
    expect(files.get("report.xml")).toContain("</testsuites>");
  });

  test("in the kit ends with 4, and leaves the other outputs written", async () => {
    const { base } = await startFakeProvider();
    const onStdout = () => {
      throw new TypeError(`${CUSTOMER.first_name} is no function`);
    };
    const { code, stderr, files } = await run(["--base", base, ...WORDS], { onStdout });
    expect(code).toBe(4);
    expect(stderr).toMatch(/^conformance: the kit itself broke down, .*: TypeError\n {4}at /m);
    expect(stderr).not.toContain(CUSTOMER.first_name);
    expect(JSON.parse(files.get("report.json") ?? "")).toMatchObject({ ok: true });
  });
});

describe("the access token", () => {
  test.each([
    ["the command line", ["--token", TOKEN], {}],
    ["a file", ["--token-file", "token.txt"], { files: { "token.txt": `${TOKEN}\n` } }],
    ["the environment", [], { env: { CONFORMANCE_TOKEN: `${TOKEN}\n` } }],
  ])("is taken from %s", async (_, words, world) => {
    const { base } = await startFakeProvider();
    expect((await run(["--base", base, "--code", CODE, ...words], world)).code).toBe(0);
  });
});

describe("what is printed and written", () => {
  const REPORTS = ["--profile", "topupd", "--top-up", "--json", "report.json", "--junit", "report.xml"];

  test.each([
    ["right", { isTopupd: true }],
    ["plain", {}],
    ["broken", BROKEN],
  ] as const)("of a %s service holds no token, name or mobile number", async (_, fake) => {
    const { stdout, stderr, files } = await runOn(fake, ...REPORTS);
    expect([...files.keys()]).toEqual(["report.json", "report.xml"]);
    for (const text of [stdout, stderr, ...files.values()]) {
      expect(text.length).toBeGreaterThan(0);
      for (const secret of [TOKEN, MOBILE, CUSTOMER.first_name, CUSTOMER.last_name]) expect(text).not.toContain(secret);
    }
  });

  test.each([
    ["right", { isTopupd: true }],
    ["plain", {}],
    ["broken", BROKEN],
  ] as const)("of a %s service fits a terminal of 80 columns", async (_, fake) => {
    const { stdout, stderr } = await runOn(fake, "--profile", "topupd", "--top-up", "--api", "v1.0.1,v1.0.0");
    const wide = `${stdout}${stderr}`.split("\n").filter((line) => Array.from(line).length > 80);
    expect(wide).toEqual([]);
  });

  test("says of what fails what was expected, what came and who says so", async () => {
    const { stdout } = await runOn({
      rewrite: ({ json }) => {
        if (json.code === "400aa010") json.code = "400aa011";
      },
    });
    expect(stdout).toContain(
      [
        "  ✗ lookup-code              A look-up that succeeds has the code 400aa010.",
        '      expected  the string "400aa010"',
        '      came      the string "400aa011"',
        "      source    the interface, §7 Errors",
      ].join("\n"),
    );
  });

  test("is the JSON report alone where that goes to stdout", async () => {
    const { code, stdout } = await runOn({}, "--json", "-");
    const report = JSON.parse(stdout) as { ok: boolean; counts: object; results: object[] };
    expect(code).toBe(0);
    expect(report).toMatchObject({ format: "topupd-conformance-1", ok: true, topUp: false, profile: "interface" });
    expect(report.results[0]).toEqual({
      id: "lookup-json",
      group: "v1.0.1",
      level: "must",
      sentence: expect.any(String),
      source: "§2 Resources and their fields",
      outcome: "holds",
    });
  });

  test("is the JUnit report alone where that goes to stdout", async () => {
    expect((await runOn({}, "--junit", "-")).stdout).toMatch(/^<\?xml [\s\S]*<\/testsuites>\n$/);
  });

  test("is a help of 80 columns that names every option and exit code", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    for (const word of [
      "--base",
      "--token-file",
      "--top-up",
      "--expiry",
      "--profile",
      "--junit",
      "CONFORMANCE_TOKEN",
      "3 the service",
    ]) {
      expect(stdout).toContain(word);
    }
  });

  test("is the version where that is asked for", async () => {
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: "0.0.0\n" });
  });
});

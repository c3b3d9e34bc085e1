import { describe, expect, test } from "vitest";
import { type CommandLine, callOperation, commandLine } from "../support/command-line.ts";
import { addCatalogue, CATALOGUE, customersFound, fillDatabase, SITA, SITA_NET } from "../support/provider-files.ts";

async function withCatalogue(): Promise<CommandLine> {
  const line = commandLine();
  await addCatalogue(line);
  return line;
}

const [CONNECTION] = SITA.connections.internet;
const [SUBSCRIPTION] = CONNECTION?.subscriptions ?? [];
const withSubscription = (changes: object) => ({
  ...SITA,
  connections: { internet: [{ ...CONNECTION, subscriptions: [{ ...SUBSCRIPTION, ...changes }] }] },
});

const BAD_LINES = [
  withSubscription({ code: "NET-9M" }),
  withSubscription({ code: "TV-1M" }),
  withSubscription({ enddate: "2026-02-30 10:00:00" }),
  withSubscription({ enddate: SUBSCRIPTION?.startdate }),
  { ...SITA, mobile: 9800000101, status: "asleep", age: 33 },
  "not json",
];

const SUBSCRIPTION_FIELD = "connections.internet[0].subscriptions[0]";

/** How each complaint begins: with the line, the field and the gist of the reason. */
const SAID = [
  `line 2: ${SUBSCRIPTION_FIELD}.code is not `,
  `line 3: ${SUBSCRIPTION_FIELD}.code is not `,
  `line 4: ${SUBSCRIPTION_FIELD}.enddate must be a date`,
  `line 5: ${SUBSCRIPTION_FIELD}.enddate must be later than startdate`,
  "line 6: mobile must be a string",
  "line 6: status must be one of ",
  "line 6: age is not a known field",
  "line 7: (line) is not JSON",
];

function expectSaid(stderr: string, ...more: readonly string[]): void {
  const expected = [...SAID, ...more];
  const said = stderr.trimEnd().split("\n");
  expect(said.map((line, index) => line.slice(0, expected[index]?.length))).toEqual(expected);
}

const GOOD = { ...SITA, cuid: "2000002", mobile: "9800000102", connections: {} };

interface RefusedLine {
  readonly line: number;
  readonly problems: readonly { readonly field: string; readonly problem: string }[];
}

describe("topupd import customers", () => {
  test("adds customers that partners then find", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const { json } = await callOperation(url, "get-customer-information", token, { code: "9800000101" });
    expect(json.body.customer).toMatchObject({ cuid: "2000001", first_name: "Sita", last_name: "Rai" });
    expect(json.body.customer.connections.internet).toEqual([{ username: "sita", status: "inactive" }]);
  });

  test("counts what it took, and has no revision to tell", async () => {
    const line = await withCatalogue();
    const file = line.ndjson("customers.ndjson", SITA, GOOD);
    expect(await line.run("import", "customers", file, "--json")).toEqual({
      code: 0,
      stdout:
        '{"accepted":2,"rejected":0,"added":2,"changed":0,"unchanged":0,"passedOver":0,"laidOnTop":0,"refused":[],"moreRefused":0,"notTaken":[],"moreNotTaken":0}\n',
      stderr: "",
    });
    expect(await line.mustRun("import", "customers", file)).toBe(
      "2 accepted, 0 rejected\n0 added, 0 changed, 2 unchanged\n",
    );
  });

  test("reports every bad line with its number, field and reason, and writes nothing", async () => {
    const line = await withCatalogue();
    const file = line.ndjson("customers.ndjson", GOOD, ...BAD_LINES);
    const { code, stdout, stderr } = await line.run("import", "customers", file, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, rejected: 6, added: 0, moreRefused: 0 });
    const told = JSON.parse(stdout).refused.flatMap(({ line: number, problems }: RefusedLine) =>
      problems.map(({ field, problem }) => `line ${number}: ${field} ${problem}`),
    );
    expect(told).toEqual(stderr.trimEnd().split("\n").slice(0, -1));
    expectSaid(stderr, "topupd: nothing was written: mend these lines, or give --skip-invalid to leave them out");
    const checked = JSON.parse(await line.mustRun("check", "--json"));
    expect(checked.checked).toContainEqual({ what: "subscriptions equal the fold of their grants", count: 0 });
    expect([await customersFound(line, GOOD.cuid), await customersFound(line, SITA.cuid)]).toEqual([[], []]);
  });

  test("with --skip-invalid, reports the bad lines and writes the others", async () => {
    const line = await withCatalogue();
    const file = line.ndjson("customers.ndjson", GOOD, ...BAD_LINES);
    const { code, stdout, stderr } = await line.run("import", "customers", file, "--skip-invalid");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "1 accepted, 6 rejected\n1 added, 0 changed, 0 unchanged\n" });
    expectSaid(stderr);
    expect([await customersFound(line, GOOD.cuid), await customersFound(line, SITA.cuid)]).toEqual([[GOOD.cuid], []]);
  });

  test("names the first thousand bad lines, and counts the others", async () => {
    const line = await withCatalogue();
    const file = line.ndjson("customers.ndjson", ...Array.from({ length: 1_001 }, () => BAD_LINES[0] as object), GOOD);
    const { code, stdout, stderr } = await line.run("import", "customers", file, "--skip-invalid", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 1, rejected: 1_001, moreRefused: 1 });
    const told = stderr.trimEnd().split("\n");
    expect(told[999]).toBe(
      `line 1000: ${SUBSCRIPTION_FIELD}.code is not the code of any internet bouquet imported so far: NET-9M, of customer 2000001`,
    );
    expect(told.slice(1_000)).toEqual(["and 1 more line rejected"]);
  });

  test.each(["a folder", "a pipe"])("refuses %s, which cannot be read twice", async (kind) => {
    const line = commandLine();
    await fillDatabase(line);
    const { code, stdout, stderr } = await line.run("import", "customers", kind === "a folder" ? "." : "/dev/stdin");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^topupd: (\.|\/dev\/stdin) cannot be read: it is no regular file\n$/);
  });

  test("knows the bouquets of older revisions too", async () => {
    const line = await withCatalogue();
    await line.mustRun("import", "catalogue", line.ndjson("newer.ndjson", CATALOGUE[2] as object));
    expect((await line.run("import", "customers", line.ndjson("customers.ndjson", SITA))).code).toBe(0);
  });

  test("into the trial environment knows the trial catalogue alone", async () => {
    const line = await withCatalogue();
    const file = line.ndjson("customers.ndjson", SITA);
    expect((await line.run("import", "customers", file, "--environment", "trial")).code).toBe(1);
    const catalogue = line.ndjson("catalogue.ndjson", ...CATALOGUE);
    await line.mustRun("import", "catalogue", catalogue, "--environment", "trial");
    await line.mustRun("import", "customers", file, "--environment", "trial");
    expect(await customersFound(line, SITA.cuid)).toEqual([]);
  });

  test("takes effect in a service that is running, and loses none of its top-ups", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const call = async (operation: string, body: object) => (await callOperation(url, operation, token, body)).json;
    const { checkoutId } = (await call("get-subscription-package", SITA_NET)).body;
    const purchase = { ...SITA_NET, checkoutId, bouquetId: "NET-3M", amt: "3220.50" };
    const { result } = (await call("subscription-package-topup", purchase)).body;
    const before = (await call("get-subscription-package", SITA_NET)).body.internet.subscriptions;

    await line.mustRun("import", "customers", line.ndjson("again.ndjson", { ...SITA, last_name: "Tamang" }));
    const after = (await call("get-subscription-package", SITA_NET)).body;
    expect(after.customer.last_name).toBe("Tamang");
    expect(after.internet.subscriptions).toEqual(before);
    expect((await call("txn-status", { checkoutId })).body.result).toEqual(result);
    expect((await line.run("check")).code).toBe(0);
  });
});

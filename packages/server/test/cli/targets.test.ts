import { describe, expect, test } from "vitest";
import type { RadiusDifference } from "../../src/domain/radius.ts";
import { DeliveryFailed } from "../../src/domain/target.ts";
import { failedLines } from "../../src/office/targets/presenter.ts";
import { buy, filledLine, MONDAY, type OfficeLine, SITA_NET } from "../support/office-line.ts";

const URL = "http://127.0.0.1:9/hook";
const WEBHOOK: readonly string[] = ["--kind", "webhook", "--url", URL, "--allow-private"];
const HOUR_MS = 3_600_000;
const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const misused = (stderr: string) => ({ code: 2, stdout: "", stderr: `topupd: ${stderr}\n` });
const ID = expect.any(Number);

function topUp(line: OfficeLine): Promise<string> {
  return buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
}

describe("topupd target add", () => {
  test("prints a webhook's secret alone, once, and as JSON with the id", async () => {
    const line = await filledLine();
    const { code, stdout, stderr } = await line.run("target", "add", "tv", ...WEBHOOK);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
    expect(stderr).toBe(
      "This is the only time that the secret is shown. tv gets the events from now on; for what was before, take topupd export customers.\n",
    );
    const secret = expect.stringMatching(/^whsec_/);
    expect(await line.json("target", "add", "billing", ...WEBHOOK, "--billing")).toMatchObject({
      target: { id: ID, billing: true },
      secret,
    });
    for (const words of [["list"], ["show", "tv"], ["show", "tv", "--json"]])
      expect(await line.mustRun("target", ...words)).not.toContain("whsec_");
    expect(await line.mustRun("audit", "export")).not.toContain("whsec_");
  });

  test("of a feed prints no secret", async () => {
    const line = await filledLine();
    expect(await line.json("target", "add", "crm", "--kind", "feed")).toMatchObject({
      target: { id: ID },
      secret: null,
    });
    expect(await line.run("target", "add", "other", "--kind", "feed")).toMatchObject({ code: 0, stdout: "" });
  });

  test("of kind radius reads its file, and shows its database without the password", async () => {
    const line = await filledLine();
    const file = {
      database: "mysql://radius:hush@10.0.0.9/radius",
      timeZone: "UTC",
      groups: { "Fiber 100 Mbps": "100M" },
    };
    const addNetwork = () => line.run("target", "add", "network", "--kind", "radius", "--config", "radius.json");
    expect((await addNetwork()).stderr).toMatch(/^topupd: radius\.json cannot be read: ENOENT/);
    line.write("radius.json", "{");
    expect((await addNetwork()).stderr).toMatch(/^topupd: radius\.json is not JSON: /);
    line.ndjson("radius.json", { ...file, timeZone: "Mars" });
    expect(await addNetwork()).toEqual(failed("radius.timeZone must be an IANA time zone such as Asia/Kathmandu"));
    line.ndjson("radius.json", { ...file, groups: 7 });
    expect(await addNetwork()).toMatchObject({ code: 1, stderr: expect.stringContaining("radius.groups must") });
    line.ndjson("radius.json", file);
    expect((await addNetwork()).stderr).toBe(
      "network gets the events from now on; for what was before, run topupd target reconcile network.\n",
    );
    const address = "mysql://radius@10.0.0.9/radius";
    const rest = { timeZone: "UTC", groups: file.groups, defaultGroup: null, service: "internet" };
    expect(await line.json("target", "show", "network")).toMatchObject({ kind: "radius", address, ...rest });
    expect(await line.mustRun("target", "show", "network")).toMatch(/\ntime zone +UTC\ngroup +Fiber 100 Mbps 100M\n/);
    expect(await line.mustRun("audit", "export")).not.toContain("hush");
    line.ndjson("radius.json", { ...file, database: "mysql://radius@10.0.0.9/iptv" });
    await line.mustRun(
      ...["target", "add", "iptv", "--kind", "radius", "--config", "radius.json", "--service", "iptv"],
    );
    expect(await line.rows("target", "list")).toMatchObject([{ service: "internet" }, { service: "iptv" }]);
    expect(await line.mustRun("target", "show", "iptv")).toMatch(/\nservice +iptv\n/);
    const [{ after }] = await line.rows("audit", "list", "--subject", "iptv");
    expect(after).toMatchObject({ service: "iptv" });
  });

  test.each([
    ["tv --kind webhook", "a webhook needs --url"],
    ["tv --kind webhook --url ftp://tv.example.net/", "--url must begin with https:// or http://"],
    [
      "tv --kind webhook --url http://127.0.0.1/",
      "--url leads to a private address: if that is meant, allow it with --allow-private (webhook.allowPrivate in the API)",
    ],
    ["tv --kind webhook --url http://a:b@127.0.0.1/", "--url must hold no user name and no password"],
    ["tv --kind webhook --url http://127.0.0.1/ --config x", "a target of kind webhook has no --config"],
    ["tv --kind radius", "a target of kind radius needs --config"],
    ["tv --kind radius --config x --billing", "a target of kind radius has no --billing"],
    ["tv --kind feed --url http://127.0.0.1/", "a target of kind feed has no --url"],
    ["tv --kind feed --service tv", "a target of kind feed has no --service"],
    ["tv --kind feed --allow-private", "a target of kind feed has no --allow-private"],
    ["-tv- --kind feed", "unknown option '-tv-'\nSee topupd target add --help"],
    [
      ".tv --kind feed",
      "NAME must have 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
    ],
  ])("is told of a mistake: %s", async (words, said) => {
    const line = await filledLine();
    expect(await line.run("target", "add", ...words.split(" "))).toEqual(misused(said));
    expect(await line.rows("target", "list")).toEqual([]);
  });
});

test("topupd target list and show say where a target is and how far, without what may be secret in its address", async () => {
  const line = await filledLine();
  await line.mustRun("target", "add", "billing", ...WEBHOOK.with(3, `${URL}?key=hush`), "--billing");
  line.now += HOUR_MS;
  await topUp(line);
  await topUp(line);
  const at = new Date(line.now).toISOString();
  const row = {
    ...{ id: ID, name: "billing", kind: "webhook", service: null, address: URL, billing: true, paused: false },
    ...{ createdAt: new Date(MONDAY).toISOString(), behind: 2, failing: 0, setAside: 0, oldestAt: at },
  };
  expect(await line.rows("target", "list")).toEqual([row]);
  line.now += HOUR_MS;
  const acknowledgedUntil = new Date(MONDAY + HOUR_MS - 31_000).toISOString();
  const own = { allowPrivate: true, formerSecretUntil: null, timeZone: null, groups: null, defaultGroup: null };
  expect(await line.json("target", "show", "billing")).toEqual({ ...row, ...own, acknowledgedUntil });
  expect(await line.mustRun("target", "show", "billing")).toBe(
    [
      "name          billing",
      "kind          webhook, of your billing",
      `address       ${URL}`,
      "state         runs",
      "behind        2 events",
      "failing       0 events",
      "set aside     0 events",
      `oldest        ${at}`,
      `acknowledged  until ${acknowledgedUntil}`,
      "",
    ].join("\n"),
  );
  expect(await line.mustRun("target", "list")).toMatch(
    /^NAME +KIND +SERVICE +ADDRESS +BILLING +PAUSED +BEHIND +FAILING +SET ASIDE +OLDEST AT\nbilling +webhook +- +http\S+hook +true +false +2 +0 +0 +2026\S+\n$/,
  );
});

test("topupd target pause, rotate, failed, resend and remove say what they did", async () => {
  const line = await filledLine();
  await line.mustRun("target", "add", "tv", ...WEBHOOK);
  expect(await line.json("target", "pause", "tv")).toMatchObject({ name: "tv", paused: true });
  expect(await line.json("target", "resume", "tv")).toMatchObject({ name: "tv", paused: false });
  const formerUntil = new Date(line.now + 24 * HOUR_MS).toISOString();
  expect(await line.run("target", "rotate", "tv")).toEqual({
    ...{ code: 0, stdout: expect.stringMatching(/^whsec_\S+\n$/) },
    stderr: `This is the only time that the secret is shown. The previous secret signs as well until ${formerUntil}.\n`,
  });
  expect(await line.mustRun("target", "failed", "tv")).toBe("EVENT  KIND  CONNECTION  ATTEMPTS  NEXT  PROBLEM\n");
  expect(await line.mustRun("target", "resend", "tv")).toBe("0 events will be sent again.\n");
  expect(await line.run("target", "remove", "other")).toEqual(
    failed("there is no target named other: see the list of targets"),
  );
  expect(await line.mustRun("target", "remove", "tv")).toBe("The target is removed.\n");
});

test("a delivery that failed is shown in one line", () => {
  const key = { environment: "trial", cuid: "1", service: "internet", reqId: "sita" } as const;
  const times = { failedAt: null, nextAt: "2026-11-23T10:00:00.000Z" };
  const delivery = { ...key, ...times, id: "evt_1_1", kind: "topup.recorded", attempts: 9, problem: "status 500" };
  const { out, note } = failedLines({
    items: [delivery, { ...delivery, setAside: true }].map((each) => ({ setAside: false, ...each })),
  });
  expect(out).toBe(
    [
      "EVENT    KIND            CONNECTION               ATTEMPTS  NEXT                      PROBLEM",
      "evt_1_1  topup.recorded  1 internet sita (trial)  9         2026-11-23T10:00:00.000Z  status 500",
      "evt_1_1  topup.recorded  1 internet sita (trial)  9         set aside                 status 500",
      "",
    ].join("\n"),
  );
  expect(note).toBeUndefined();
});

describe("topupd target reconcile", () => {
  const difference = (found: readonly string[], wanted: string | undefined): RadiusDifference => {
    const rows = found.map((value, id) => ({ id, kind: "Expiration", value }) as const);
    return { username: "sita", kind: "Expiration", found: rows, wanted, kept: rows[0] };
  };

  /** With a RADIUS server that differs in this, or does not take part. */
  async function withRadius(answer: readonly RadiusDifference[] | Error): Promise<OfficeLine> {
    const line = await filledLine();
    line.ndjson("radius.json", { database: "postgres://r@127.0.0.1:9/r", timeZone: "UTC", groups: {} });
    await line.mustRun("target", "add", "network", "--kind", "radius", "--config", "radius.json");
    line.targets = {
      ...line.targets,
      async reconcileRadius(_ports, config, { isPreview }, onDifference) {
        expect(config.kind).toBe("radius");
        if (answer instanceof Error) throw answer;
        for (const each of answer) onDifference(isPreview ? each : { ...each, username: `corrected ${each.username}` });
        return { compared: 3, differing: answer.length };
      },
    };
    return line;
  }

  test("shows each difference, and ends with 0 once it is corrected, and with 3 where nothing was to be", async () => {
    const line = await withRadius([difference(["1 Jan 2026"], "1 Feb 2026"), difference(["a", "b"], undefined)]);
    const run = (...words: readonly string[]) => line.run("target", "reconcile", "network", ...words);
    const stdout = "sita  Expiration: 1 Jan 2026 -> 1 Feb 2026\nsita  Expiration: a, b -> nothing\n";
    expect(await run("--preview")).toEqual({
      ...{ code: 3, stdout },
      stderr:
        "3 users compared, 2 differ\ntopupd: RADIUS differs from the records, and nothing was fixed: run it without --preview\n",
    });
    const corrected = stdout.replaceAll("sita", "corrected sita");
    expect(await line.rows("audit", "list", "--action", "target.reconcile")).toEqual([]);
    expect(await run("--as", "maya")).toEqual({
      code: 0,
      stdout: corrected,
      stderr: "3 users compared, 2 fixed\n",
    });
    expect(await line.rows("audit", "list", "--action", "target.reconcile")).toMatchObject([
      { author: "maya", subject: "network" },
    ]);
    const row = { username: "corrected sita", kind: "Expiration", found: ["1 Jan 2026"], wanted: "1 Feb 2026" };
    expect((await line.rows("target", "reconcile", "network"))[0]).toEqual(row);
  });

  test("ends with 0 where nothing differs, and with 1 where the server does not take part", async () => {
    const same = await withRadius([]);
    expect(await same.run("target", "reconcile", "network", "--preview")).toMatchObject({ code: 0, stdout: "" });
    const away = await withRadius(new DeliveryFailed("the RADIUS database refuses connections"));
    expect(await away.run("target", "reconcile", "network")).toEqual(failed("the RADIUS database refuses connections"));
  });

  test("is of no other kind", async () => {
    const line = await filledLine();
    await line.mustRun("target", "add", "crm", "--kind", "feed");
    expect(await line.run("target", "reconcile", "crm")).toEqual(failed("crm is not of kind radius"));
  });
});

import { describe, expect, test } from "vitest";
import type { RadiusDifference } from "../../src/domain/radius.ts";
import { DeliveryFailed } from "../../src/domain/target.ts";
import { failedLines } from "../../src/office/targets/presenter.ts";
import { filledLine, type OfficeLine } from "../support/office-line.ts";

test("a delivery that failed is shown in one line", () => {
  const key = { environment: "trial", cuid: "1", service: "internet", reqId: "sita", partner: null } as const;
  const times = { failedAt: null, nextAt: "2026-11-23T10:00:00.000Z" };
  const delivery = { ...key, ...times, id: "evt_1_1", kind: "topup.recorded", attempts: 9, problem: "status 500" };
  const { out, note } = failedLines({
    items: [delivery, { ...delivery, setAside: true }].map((each) => ({ setAside: false, ...each })),
  });
  expect(out).toBe(
    [
      "EVENT    KIND            ABOUT                    ATTEMPTS  NEXT                      PROBLEM",
      "evt_1_1  topup.recorded  1 internet sita (trial)  9         2026-11-23T10:00:00.000Z  status 500",
      "evt_1_1  topup.recorded  1 internet sita (trial)  9         set aside                 status 500",
      "",
    ].join("\n"),
  );
  expect(note).toBeUndefined();
});

describe("topupd target reconcile", () => {
  const difference = (found: readonly string[], wanted: string | undefined): RadiusDifference => {
    return { username: "sita", kind: "Expiration", found: found.map((value) => ({ value })), wanted };
  };

  /** With a RADIUS server that differs in this, or does not take part. */
  async function withRadius(answer: readonly RadiusDifference[] | Error): Promise<OfficeLine> {
    const line = await filledLine();
    const file = { database: "postgres://r@127.0.0.1:9/r", timeZone: "UTC", groups: {} };
    line.write("radius.json", `\ufeff${JSON.stringify(file)}`);
    await line.mustRun("target", "add", "network", "--kind", "radius", "--config", "radius.json");
    const { targetTools } = line;
    line.targetTools = (allowed) => ({
      ...targetTools(allowed),
      async reconcileRadius(_ports, config, { isPreview }, onDifference) {
        expect(config.kind).toBe("radius");
        if (answer instanceof Error) throw answer;
        for (const each of answer) onDifference(isPreview ? each : { ...each, username: `corrected ${each.username}` });
        return { compared: 3, differing: answer.length };
      },
    });
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

  test("ends with 3 where RADIUS has a username in other case, which it does not correct", async () => {
    const name = { username: "sita", kind: "username", found: [{ value: "Sita" }], wanted: "sita" };
    const line = await withRadius([name, difference([], "1 Feb 2026")]);
    const words = "topupd: RADIUS has 1 username in other case only: correct it there, or here\n";
    expect(await line.run("target", "reconcile", "network")).toEqual({
      ...{ code: 3, stderr: `3 users compared, 1 fixed\n${words}` },
      stdout: "corrected sita  username: Sita -> sita\ncorrected sita  Expiration: nothing -> 1 Feb 2026\n",
    });
  });

  test("ends with 0 where nothing differs, and with 1 where the server does not take part", async () => {
    const same = await withRadius([]);
    expect(await same.run("target", "reconcile", "network", "--preview")).toMatchObject({ code: 0, stdout: "" });
    const away = await withRadius(new DeliveryFailed("the RADIUS database refuses connections"));
    expect(await away.run("target", "reconcile", "network")).toEqual({
      ...{ code: 1, stdout: "", stderr: "topupd: the RADIUS database refuses connections\n" },
    });
  });
});

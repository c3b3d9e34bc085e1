import { describe, expect, test } from "vitest";
import { buy, filledLine, type OfficeLine, rowsOf, SITA_NET } from "../support/office-line.ts";

const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });

async function withFeed(): Promise<OfficeLine> {
  const line = await filledLine();
  await line.mustRun("target", "add", "crm", "--kind", "feed");
  return line;
}

function topUp(line: OfficeLine): Promise<string> {
  return buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
}

describe("topupd events", () => {
  const events = async (line: OfficeLine, ...words: readonly string[]) => {
    const rows = rowsOf(await line.mustRun("events", "--target", "crm", ...words));
    return { told: rows.slice(0, -1), last: rows.at(-1) };
  };

  test("prints each event whole, and in the last line the cursor to go on from", async () => {
    const line = await withFeed();
    const bought = [await topUp(line), await topUp(line)];
    const { told, last } = await events(line);
    expect(told.map(({ data }) => data.topUp.txnId)).toEqual(bought);
    expect(told[1]).toMatchObject({
      ...{ id: last.cursor, type: "topup.recorded", timestamp: new Date(line.now).toISOString() },
      data: {
        ...{ environment: "production", cuid: SITA_NET.cuid },
        connection: { service: "internet", reqId: "sita", blocked: false },
        topUp: { partner: "wallet", bouquetId: "NET-1M", amount: "1130.00" },
      },
    });
  });

  test("are printed again until a cursor says that they were taken in", async () => {
    const line = await withFeed();
    expect(await events(line)).toEqual({ told: [], last: { cursor: null } });
    await topUp(line);
    const first = await events(line);
    expect(await events(line, "--after", "null")).toEqual(first);
    expect(await events(line)).toEqual(first);
    await topUp(line);
    const second = await events(line, "--after", first.last.cursor);
    expect(second.told).toHaveLength(1);
    const done = { told: [], last: second.last };
    expect(await events(line, "--after", second.last.cursor)).toEqual(done);
    expect(await events(line)).toEqual({ told: [], last: { cursor: null } });
    expect(await line.rows("target", "list")).toMatchObject([{ behind: 0 }]);
  });

  test("are followed as they happen, until a signal, and then end with the cursor", async () => {
    const line = await withFeed();
    await topUp(line);
    let stop: (name: string) => void = () => {};
    line.askedToStop = new Promise((resolve) => {
      stop = resolve;
    });
    const looks = [() => topUp(line), async () => {}, () => topUp(line), async () => stop("SIGTERM")];
    line.asleep = async () => {
      await looks.shift()?.();
    };
    const { told, last } = await events(line, "--follow");
    expect(told).toHaveLength(3);
    expect(last).toEqual({ cursor: told[2].id });
    expect(looks).toEqual([]);
  });

  test("are no other target's, and not those of a cursor that is not known", async () => {
    const line = await withFeed();
    await line.mustRun("target", "add", "tv", "--kind", "webhook", "--url", "http://127.0.0.1:9/", "--allow-private");
    await line.mustRun("target", "pause", "crm");
    const run = (...words: readonly string[]) => line.run("events", "--target", ...words);
    expect(await run("other")).toEqual(failed("there is no target named other: see the list of targets"));
    expect(await run("tv")).toEqual(failed("tv is no feed: topupd serve sends it its events"));
    expect(await run("crm")).toEqual(failed("crm is paused"));
    await line.mustRun("target", "resume", "crm");
    expect(await run("crm", "--after", "evt_1_1")).toEqual(
      failed(
        "no event of this id is kept: leave out --after to continue from the place of the feed, and read all customers again",
      ),
    );
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { topUps } from "../bodies.ts";
import { pathOf } from "../calls.ts";
import { CONNECTIONS } from "../operations.ts";
import { runTopupd, startServer, TOPUPD } from "../processes.ts";
import { say } from "../progress.ts";
import type { Reported } from "../reports.ts";
import type { Comparison } from "../results.ts";
import { type Contestant, overHttp, type RoundOptions, runRounds } from "../rounds.ts";
import { settlementOf } from "./questions.ts";

const OPERATION = "subscription-package-topup";
/** How much of the throughput reports beside it leave. */
const THROUGHPUT_LEFT = 0.9;

/** From the start of one report to that of the next: as a back office with many people in it asks. */
const REPORT_EVERY_MS = 5_000;

/** Top-ups on one service, in turn by themselves and with a day reported beside them every few seconds. */
export async function measureBeside(reported: Reported, options: RoundOptions): Promise<Comparison> {
  const { store, grown, env, day } = reported;
  say(`${OPERATION} on ${store}, with reports and without`);
  const server = await startServer([TOPUPD, "serve", "--port", "0"], env, grown.folder);
  try {
    const alone = overHttp({
      ...{ server, path: pathOf(OPERATION), token: grown.token, mustBeNew: true, connections: CONNECTIONS },
      bodies: (count) => topUps(grown.history.target, count),
    });
    const report = () => runTopupd(settlementOf(day), { cwd: grown.folder, env });
    const [theirs = [], ours = []] = await runRounds([alone, beside(alone, report)], options);
    return {
      measured: `${OPERATION} while a day is reported, ${store}`,
      baseline: "the same by itself",
      target: THROUGHPUT_LEFT,
      ours,
      theirs,
    };
  } finally {
    await server.stop();
  }
}

/** Does the same, while something else is done again and again. */
function beside(contestant: Contestant, other: () => Promise<unknown>): Contestant {
  return {
    ...contestant,
    run: async (seconds) => {
      let isOver = false;
      const others = (async () => {
        while (!isOver) await Promise.all([other(), sleep(REPORT_EVERY_MS)]);
      })();
      try {
        return await contestant.run(seconds);
      } finally {
        isOver = true;
        await others;
      }
    },
  };
}

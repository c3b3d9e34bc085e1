import { lookUps, type Target } from "./bodies.ts";
import { call } from "./calls.ts";
import { startServer, TOPUPD } from "./processes.ts";
import { say } from "./progress.ts";
import type { Figure } from "./results.ts";
import { median } from "./rounds.ts";

const STARTS = 3;

/** From the start of the process to its first answer about one of many customers. */
export async function measureStart(folder: string, token: string, target: Target): Promise<Figure> {
  say("start to first answer");
  const times: number[] = [];
  for (const body of lookUps(target, STARTS)) {
    const begun = performance.now();
    const server = await startServer([TOPUPD, "serve", "--port", "0"], {}, folder);
    await call({ server, operation: "get-customer-information", token, body });
    times.push(performance.now() - begun);
    await server.stop();
  }
  return {
    measured: `start to first answer, SQLite, ${target.customers.toLocaleString("en")} customers`,
    value: median(times) / 1000,
    unit: "s",
    decimals: 2,
    target: { atMost: 1 },
    detail: `median of ${STARTS} starts`,
  };
}

import { fileURLToPath } from "node:url";
import { lookUps, topUps } from "./bodies.ts";
import { pathOf } from "./calls.ts";
import { writeBodies } from "./load.ts";
import { CONNECTIONS, type Serving, TOP_UP } from "./operations.ts";
import { runProgram } from "./programs.ts";
import { type Figure, say } from "./results.ts";
import { overHttp } from "./rounds.ts";

const SENDER = fileURLToPath(new URL("load/rate.mjs", import.meta.url));
const SECONDS = 5;
/** How much more is sent than could be answered. */
const EXCESS = 2;

interface Sent {
  readonly good: number;
  readonly refused: number;
  readonly p99: number;
}

/**
 * Measures goodput and latency at twice the peak rate, with a sender that does not wait for answers. The peak is the rate
 * that this sender gets if it sends as much as wrk did.
 */
export async function measureOverload({ server, token, target }: Serving): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [operation, bodiesOf, mustBeNew] of [
    ["get-customer-information", lookUps, false],
    [TOP_UP, topUps, true],
  ] as const) {
    say(`overload by ${operation}`);
    const bodies = (count: number) => bodiesOf(target, count);
    const url = server.url + pathOf(operation);
    const http = { server, path: pathOf(operation), token, bodies, mustBeNew, connections: CONNECTIONS };
    const { perSecond } = await overHttp(http).run(SECONDS);
    const send = async (rate: number) => {
      const { file, remove } = writeBodies(bodies(Math.ceil(rate * SECONDS * 1.1)));
      try {
        return JSON.parse(
          await runProgram(process.execPath, [SENDER, url, token, file, String(rate), String(SECONDS)]),
        ) as Sent;
      } finally {
        remove();
      }
    };
    const peak = await send(Math.round(perSecond));
    const rate = Math.round(peak.good * EXCESS);
    const over = await send(rate);
    const detail = `${rate} a second sent, ${Math.round(over.refused)} refused, ${Math.round(over.good)} of ${Math.round(peak.good)} served`;
    figures.push(
      {
        ...{ measured: `${operation}, served of the peak with twice the load`, value: over.good / peak.good, unit: "" },
        ...{ decimals: 2, target: { atLeast: 0.8 }, detail },
      },
      {
        ...{ measured: `${operation}, p99 of successful answers`, value: over.p99 / 1000, unit: "s", decimals: 2 },
        ...{ target: { atMost: 1 }, detail },
      },
    );
  }
  return figures;
}

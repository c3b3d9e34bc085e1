import { request } from "node:http";
import { pathOf } from "./calls.ts";
import { SERVE, startServer } from "./processes.ts";
import { type Figure, say } from "./results.ts";

const STRANGERS = 200;
const REQUESTS_OF_EACH = 30;

/** Measures how much memory all processes gain from callers without a token. @param folder of a database. */
export async function measureStrangers(folder: string): Promise<Figure> {
  say("requests without a token");
  const server = await startServer(SERVE, {}, folder);
  try {
    const before = server.memoryMiB() ?? Number.NaN;
    const call = async () => {
      for (let left = REQUESTS_OF_EACH; left > 0; left -= 1)
        await refused(server.url + pathOf("get-customer-information"));
    };
    await Promise.all(Array.from({ length: STRANGERS }, call));
    const value = (server.memoryMiB() ?? Number.NaN) - before;
    return {
      ...{ measured: "memory gained from strangers", value, unit: "MiB", decimals: 0, target: { atMost: 100 } },
      detail: `of all processes; ${STRANGERS} callers sent ${REQUESTS_OF_EACH} requests each without a token`,
    };
  } finally {
    await server.stop();
  }
}

/** Sends a request on a socket of its own. */
function refused(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { method: "POST", agent: false }, (answer) => answer.resume().on("end", resolve))
      .on("error", reject)
      .end("{}");
  });
}

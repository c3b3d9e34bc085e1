import type { Meter } from "@opentelemetry/api";
import type { Store } from "../store/store.ts";

/** Shorter than the time that Prometheus leaves for a scrape, which is ten seconds. */
const PING_TIMEOUT_MS = 2_000;

/** Whether the store answers, asked at each scrape. One that stands still is taken for away. */
export function measureStore(meter: Meter, store: () => Pick<Store, "ping">): void {
  let asking: Promise<boolean> | undefined;
  // A question that is still open is not asked again: a store that stands still would gather them.
  const ask = () => {
    asking ??= isUp(store()).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  meter
    .createObservableGauge("topupd_store_up", { description: "1 if the store answers, else 0, as /readyz has it." })
    .addCallback(async (result) => result.observe((await orLater(ask())) ? 1 : 0));
}

async function isUp(store: Pick<Store, "ping">): Promise<boolean> {
  try {
    await store.ping();
    return true;
  } catch {
    return false;
  }
}

function orLater(answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PING_TIMEOUT_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

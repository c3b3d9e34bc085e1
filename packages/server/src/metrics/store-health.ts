import type { Store } from "../store/store.ts";
import { type Family, single } from "./exposition.ts";

/** Shorter than the time that Prometheus leaves for a scrape, which is ten seconds. */
const PING_TIMEOUT_MS = 2_000;

/** @returns what tells whether a store answers, by asking it. One that stands still is taken for away. */
export function askStore(): (store: Pick<Store, "ping">) => Promise<Family> {
  let asking: Promise<boolean> | undefined;
  return async (store) => {
    // A question that is still open is not asked again: a store that stands still would gather them.
    asking ??= isUp(store).finally(() => {
      asking = undefined;
    });
    const value = (await orLater(asking)) ? 1 : 0;
    return single("gauge", "topupd_store_up", "1 if the store answers, else 0, as /readyz has it.", value);
  };
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

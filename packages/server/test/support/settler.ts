import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type SettlerOptions, serveSettling } from "../../src/store/sqlite/settler-server.ts";
import type { ObserveBatch, ObserveCheckpoints, Store } from "../../src/store/store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a settler does, in this process: where a disk that fails can be feigned, and its connection be asked. */
export interface TestSettler {
  readonly socketPath: string;
  readonly ping: () => void;
  readonly close: () => Promise<void>;
}

export interface TestSettlerOptions extends Pick<SettlerOptions, "clock"> {
  /** Of the database. */
  readonly path: string;
  readonly provider: Store["provider"];
  readonly socketPath?: string;
  readonly observeBatch?: ObserveBatch | undefined;
  readonly observeCheckpoints?: ObserveCheckpoints | undefined;
}

export async function startSettler(options: TestSettlerOptions): Promise<TestSettler> {
  const { path, clock, provider, socketPath = join(temporaryFolder(), "settler") } = options;
  const { zone, currencyExponent, defaultCountry, basePlans, monthsAhead } = provider;
  const { ping, close } = await serveSettling({
    data: { path, socketPath, timeZone: zone.name, currencyExponent, defaultCountry, basePlans, monthsAhead },
    clock,
    observeBatch: options.observeBatch ?? (() => () => {}),
    observeCheckpoints: options.observeCheckpoints ?? (() => {}),
  });
  let closing: Promise<void> | undefined;
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  onTestFinished(closeOnce);
  return { socketPath, ping, close: closeOnce };
}

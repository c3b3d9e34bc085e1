import { type Config, SETTINGS } from "../../config.ts";
import { readPartners } from "../../office/partners/sql.ts";
import { readStaff } from "../../office/staff/sql.ts";
import type { ProviderSettings, Store } from "../../store/store.ts";
import type { Served } from "./processes.ts";
import { CommandFailed } from "./runtime.ts";

/** A service that runs. */
export interface Service {
  /** Where, without a slash at its end. */
  readonly url: string;
  /** Where its metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Where its console is; undefined where none is served. */
  readonly consoleUrl: string | undefined;
  readonly provider: ProviderSettings;
  /** False where nobody can call; also where the store could not tell. */
  readonly lacksPartners: boolean;
  /** The same, of the console. */
  readonly lacksStaff: boolean;
  /** Resolves with the name of the signal. */
  readonly askedToStop: Promise<string>;
  readonly stop: Served["stop"];
}

/** A store that is away by now is told of at /readyz. */
export async function lackingOf({
  engine,
}: Pick<Store, "engine">): Promise<Pick<Service, "lacksPartners" | "lacksStaff">> {
  const isEmpty = async (list: () => Promise<readonly unknown[]>) => (await list()).length === 0;
  const [lacksPartners, lacksStaff] = await Promise.all([
    isEmpty(() => readPartners(engine.db)).catch(() => false),
    isEmpty(() => readStaff(engine.db)).catch(() => false),
  ]);
  return { lacksPartners, lacksStaff };
}

/** @throws CommandFailed, which says what to change, where it cannot listen. */
export async function listening<Result>(
  listened: Promise<Result>,
  config: Config,
  host: "host" | "metricsHost" | "consoleHost",
  port: "port" | "metricsPort" | "consolePort",
): Promise<Result> {
  try {
    return await listened;
  } catch (error) {
    const [byHost, byPort] = [SETTINGS[host], SETTINGS[port]];
    throw new CommandFailed(
      `cannot listen on ${config[host]}, port ${config[port]}: ${(error as Error).message}. Choose others with --${byHost.flag} or ${byHost.env}, --${byPort.flag} or ${byPort.env}`,
    );
  }
}

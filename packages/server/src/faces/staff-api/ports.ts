import { Uploads } from "../../office/imports/uploads.ts";
import { Jobs } from "../../office/jobs.ts";
import type { Actor, Desk } from "../../office/office.ts";
import type { FailedLogIn, StaffIdentity } from "../../office/session/log-in.ts";
import { type OwnAccountPorts, TotpOffers } from "../../office/session/own-account.ts";
import { StatisticsCache } from "../../office/statistics/cache.ts";
import type { TargetTools } from "../../office/targets/tools.ts";
import type { Ports } from "../../store/ports.ts";
import type { MigrationState } from "../../store/store.ts";
import type { ServiceState } from "../../system/service-state.ts";
import { Background } from "./background.ts";

/** What the staff API needs of the world. */
export interface AdminWorld extends Ports, Pick<OwnAccountPorts, "accounts"> {
  readonly targets: TargetTools;
  /** Of topupd. */
  readonly version: string;
  /** Shown beside amounts; undefined where the provider has not named it. */
  readonly currency: string | undefined;
  readonly storeKind: "sqlite" | "postgres";
  readonly readMigrations: () => Promise<MigrationState[]>;
  readonly state: Readonly<ServiceState>;
  /** Counts a log-in that failed; undefined if nobody reads the metrics. */
  readonly countFailedLogIn?: ((outcome: FailedLogIn["outcome"]) => void) | undefined;
  /** Resolves early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Hears of what goes wrong in the background. */
  readonly log: (level: "info" | "warn", fields: object, message: string) => void;
}

/** What the routes of the staff API work with. */
export interface AdminPorts extends AdminWorld, OwnAccountPorts {
  /** Where work goes on after the answer. */
  readonly background: Background;
  readonly jobs: Jobs;
  readonly uploads: Uploads;
  readonly statistics: StatisticsCache;
}

/** Makes what lives in this process's memory: once, beside the store. */
export function createAdminPorts(world: AdminWorld): AdminPorts {
  const { clock } = world;
  const background = new Background((error) => world.log("warn", { err: error }, "work in the background failed"));
  return {
    ...world,
    logInFailed: ({ outcome, staff, address }) => {
      world.countFailedLogIn?.(outcome);
      // While a lock holds, each attempt would be a line: the metric counts those.
      if (outcome === "wrong_credentials") world.log("warn", { staff, address }, "a log-in failed");
    },
    totpOffers: new TotpOffers(clock),
    statistics: new StatisticsCache(world),
    background,
    jobs: new Jobs(),
    uploads: new Uploads(),
  };
}

/** What the service gives an operation. Long work continues after the answer, with the rights of the account alone. */
export function serviceDesk(ports: AdminPorts, actor: Actor): Desk {
  const { store, clock, random, accounts, targets, sleep, background, jobs, uploads, statistics, state } = ports;
  const { recordingFailsSince } = state;
  const goOn: Desk["goOn"] = async (work) => background.begin(work);
  const known = { uploads, statistics, recordingFailsSince };
  return { store, clock, random, accounts, targets, actor, sleep, jobs, ...known, goOn, progress() {}, giveWay() {} };
}

/** Who asks. */
export type Identity = StaffIdentity;

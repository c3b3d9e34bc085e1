import type { NumberGrouping } from "../../domain/money.ts";
import { LOG_IN_WAYS } from "../../domain/staff.ts";
import type { Limits } from "../../office/limits.ts";
import { type Actor, type Desk, type FirstSetting, singlesOf, type TargetTools } from "../../office/office.ts";
import type { FailedLogIn, StaffIdentity } from "../../office/session/log-in.ts";
import { type OwnAccountPorts, TotpOffers } from "../../office/session/own-account.ts";
import type { Ports } from "../../store/ports.ts";
import type { MigrationState } from "../../store/store.ts";
import type { Issuer } from "../../system/oidc.ts";
import type { ServiceState } from "../../system/service-state.ts";

/** The parts that the staff API gets from outside. */
export interface AdminWorld extends Ports, Pick<OwnAccountPorts, "accounts" | "totpRoles" | "isCounter"> {
  readonly limits: Limits;
  /** Undefined if nobody logs in with OpenID Connect. */
  readonly issuer: Issuer | undefined;
  /** Whether people can log in by password. */
  readonly passwordLogIn: boolean;
  readonly targets: TargetTools;
  /** Version of topupd. */
  readonly version: string;
  /** Code shown beside amounts; undefined if it is not set. */
  readonly currency: string | undefined;
  /** How the console groups digits. */
  readonly numberGrouping: NumberGrouping;
  /** Whether a timer makes a backup every hour. */
  readonly backsUpHourly?: boolean | undefined;
  /** The provider's lines on printed settlements; null if not set. */
  readonly letterhead: Readonly<Record<"name" | "address" | "number" | "tax", string | null>>;
  /** Settings of the first run. */
  readonly settings: readonly FirstSetting[];
  /** The code that lets a person elsewhere add the first admin; undefined if there was an account at the start. */
  readonly setUpCode: string | undefined;
  readonly storeKind: "sqlite" | "postgres";
  readonly readMigrations: () => Promise<MigrationState[]>;
  readonly state: Readonly<ServiceState>;
  /** Counts a failed log-in; undefined if metrics are not served. */
  readonly countFailedLogIn?: ((outcome: FailedLogIn["outcome"]) => void) | undefined;
  /** Measures the time until a target has applied an event; undefined if metrics are not served. */
  readonly stepEnded?: ((target: string, ms: number) => void) | undefined;
  /** Resolves early if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly log: (level: "info" | "warn", fields: object, message: string) => void;
}

/** Ports of the routes of the staff API. */
export interface AdminPorts extends AdminWorld, OwnAccountPorts, Pick<Desk, "single"> {
  /** Work that continues after the answer. */
  readonly background: Background;
}

/** Work that continues after a request was answered, until it is done or the process stops. */
export class Background {
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** @param work must end soon after the signal is aborted. */
  begin(work: (ending: AbortSignal) => Promise<void>): void {
    const running: Promise<void> = work(this.#ending.signal)
      .catch(this.#onFailure)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Stops all work, and resolves when it has ended. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}

/** Makes the parts that live in this process's memory. Call it once for a store. */
export function createAdminPorts(world: AdminWorld): AdminPorts {
  const { clock } = world;
  const background = new Background((error) => world.log("warn", { err: error }, "work in the background failed"));
  return {
    ...world,
    logInFailed: ({ outcome, staff, address, cause }) => {
      world.countFailedLogIn?.(outcome);
      // Attempts during a lock are counted by the metric only.
      if (outcome === "wrong_credentials") world.log("warn", { staff, address, cause }, "a log-in failed");
    },
    logInWays: new Set(LOG_IN_WAYS.filter((way) => (way === "oidc" ? world.issuer : world.passwordLogIn))),
    totpOffers: new TotpOffers(clock),
    background,
    single: singlesOf(world),
  };
}

/** The desk that the service gives an operation. Long work continues after the answer, with the rights of the account. */
export function serviceDesk(ports: AdminPorts, actor: Actor): Desk {
  const { store, clock, random, accounts, targets, sleep, background } = ports;
  const goOn: Desk["goOn"] = async (work) => background.begin(work);
  const { single, state, limits, currency, numberGrouping, settings, backsUpHourly } = ports;
  const known = { single, state, limits, currency, numberGrouping, settings, backsUpHourly };
  return { store, clock, random, accounts, targets, actor, sleep, ...known, goOn, progress() {}, giveWay() {} };
}

/** The caller. */
export type Identity = StaffIdentity;

import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../engine.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { partnersOf, secretsOf } from "./access.ts";
import { attemptsOf } from "./attempts.ts";
import { auditTrailOf } from "./audit.ts";
import { checkStore } from "./check.ts";
import { customerSearchOf } from "./customers.ts";
import { importRunsOf } from "./import-runs.ts";
import { outboxOf } from "./outbox.ts";
import { retentionOf } from "./retention.ts";
import { staffOf } from "./staff.ts";
import { statisticsOf } from "./statistics.ts";
import { targetsOf } from "./targets.ts";
import { transactionSearchOf } from "./transactions.ts";

export type BackOffice = Pick<
  Store,
  | "partners"
  | "secrets"
  | "search"
  | "auditTrail"
  | "retention"
  | "targets"
  | "staff"
  | "attempts"
  | "importRuns"
  | "statistics"
  | "outbox"
  | "check"
>;

/** What staff change and ask: written once, for every engine. */
export function backOffice(engine: Engine, provider: ProviderSettings, clock: () => Instant): BackOffice {
  return {
    partners: partnersOf(engine),
    secrets: secretsOf(engine),
    search: {
      ...customerSearchOf(engine),
      ...transactionSearchOf(engine),
    },
    auditTrail: auditTrailOf(engine),
    retention: retentionOf(engine, provider.zone),
    targets: targetsOf(engine),
    staff: staffOf(engine),
    attempts: attemptsOf(engine),
    importRuns: importRunsOf(engine, clock),
    statistics: statisticsOf(engine),
    outbox: outboxOf(engine),
    check: () => checkStore(engine, provider.zone),
  };
}

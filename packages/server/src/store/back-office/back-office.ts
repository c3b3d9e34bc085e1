import type { Instant } from "../../domain/wall-time.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { partnersOf, secretsOf } from "./access.ts";
import { auditTrailOf } from "./audit.ts";
import { cataloguesOf } from "./catalogues.ts";
import { checkStore } from "./check.ts";
import { correctionsOf } from "./corrections.ts";
import { customerSearchOf } from "./customers.ts";
import type { Engine } from "./engine.ts";
import { outboxOf } from "./outbox.ts";
import { retentionOf } from "./retention.ts";
import { targetsOf } from "./targets.ts";
import { transactionSearchOf } from "./transactions.ts";

export type BackOffice = Pick<
  Store,
  | "partners"
  | "secrets"
  | "catalogues"
  | "corrections"
  | "search"
  | "auditTrail"
  | "retention"
  | "targets"
  | "outbox"
  | "check"
>;

/** What staff change and ask: written once, for every engine. */
export function backOffice(engine: Engine, provider: ProviderSettings, clock: () => Instant): BackOffice {
  return {
    partners: partnersOf(engine),
    secrets: secretsOf(engine),
    catalogues: cataloguesOf(engine, provider),
    corrections: correctionsOf(engine, clock),
    search: { ...customerSearchOf(engine, provider), ...transactionSearchOf(engine, provider) },
    auditTrail: auditTrailOf(engine),
    retention: retentionOf(engine, provider.zone),
    targets: targetsOf(engine),
    outbox: outboxOf(engine),
    check: () => checkStore(engine),
  };
}

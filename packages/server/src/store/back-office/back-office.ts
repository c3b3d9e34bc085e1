import type { Engine } from "../engine.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { recordTokenUses, secretsOf } from "./access.ts";
import { recordAttempts } from "./attempts.ts";
import { checkStore } from "./check.ts";
import { customerSearchOf } from "./customers.ts";
import { outboxOf } from "./outbox.ts";
import { retentionOf } from "./retention.ts";
import { staffOf } from "./staff.ts";
import { statisticsOf } from "./statistics.ts";
import { targetsOf } from "./targets.ts";
import { transactionSearchOf } from "./transactions.ts";

export type BackOffice = Pick<
  Store,
  | "recordTokenUses"
  | "secrets"
  | "search"
  | "retention"
  | "targets"
  | "staff"
  | "recordAttempts"
  | "statistics"
  | "outbox"
  | "check"
>;

/** What staff change and ask: written once, for every engine. */
export function backOffice(engine: Engine, provider: ProviderSettings): BackOffice {
  return {
    recordTokenUses: (uses) => recordTokenUses(engine, uses),
    secrets: secretsOf(engine),
    search: {
      ...customerSearchOf(engine),
      ...transactionSearchOf(engine),
    },
    retention: retentionOf(engine, provider.zone),
    targets: targetsOf(engine),
    staff: staffOf(engine),
    recordAttempts: (attempts) => recordAttempts(engine, attempts),
    statistics: statisticsOf(engine),
    outbox: outboxOf(engine),
    check: () => checkStore(engine, provider.zone),
  };
}

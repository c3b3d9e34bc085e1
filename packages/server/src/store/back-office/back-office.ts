import type { Engine } from "../engine.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { recordTokenUses } from "./access.ts";
import { recordAttempts } from "./attempts.ts";
import { checkStore } from "./check.ts";
import { listCustomers } from "./customers.ts";
import { outboxOf } from "./outbox.ts";
import { retentionOf } from "./retention.ts";
import { staffOf } from "./staff.ts";

export type BackOffice = Pick<
  Store,
  "recordTokenUses" | "listCustomers" | "retention" | "staff" | "recordAttempts" | "outbox" | "check"
>;

/** What staff change and ask: written once, for every engine. */
export function backOffice(engine: Engine, provider: ProviderSettings): BackOffice {
  return {
    recordTokenUses: (uses) => recordTokenUses(engine, uses),
    listCustomers: (environment, page) => listCustomers(engine.db, environment, page),
    retention: retentionOf(engine),
    staff: staffOf(engine),
    recordAttempts: (attempts) => recordAttempts(engine, attempts),
    outbox: outboxOf(engine),
    check: () => checkStore(engine, provider.zone),
  };
}

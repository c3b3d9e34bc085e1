import type { AccessToken } from "../../domain/access-token.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import type { CheckoutSecret } from "../../domain/checkout-secret.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { auditTrailOf } from "./audit.ts";
import { cataloguesOf, currentRevision, readCatalogue } from "./catalogues.ts";
import { checkStore } from "./check.ts";
import { correctionsOf } from "./corrections.ts";
import { customerSearchOf } from "./customers.ts";
import type { Engine } from "./engine.ts";
import { findToken, partnersOf } from "./partners.ts";
import { retentionOf } from "./retention.ts";
import { listSecrets, secretsOf } from "./secrets.ts";
import { transactionSearchOf } from "./transactions.ts";

/** What a store has of the back office, and what it asks of it where partners wait. */
export interface BackOffice
  extends Pick<
    Store,
    "partners" | "secrets" | "catalogues" | "corrections" | "search" | "auditTrail" | "retention" | "check"
  > {
  readonly findToken: (hash: Uint8Array) => Promise<AccessToken | undefined>;
  /** Newest first. */
  readonly listSecrets: () => Promise<readonly CheckoutSecret[]>;
  /** The number of the newest revision; undefined before the first import. */
  readonly currentRevision: (environment: Environment) => Promise<number | undefined>;
  /** A revision never changes. */
  readonly readCatalogue: (revision: number) => Promise<Catalogue | undefined>;
}

/** Written once, for every engine. */
export function backOffice(engine: Engine, provider: ProviderSettings, clock: () => Instant): BackOffice {
  return {
    partners: partnersOf(engine),
    secrets: secretsOf(engine),
    catalogues: cataloguesOf(engine, provider),
    corrections: correctionsOf(engine, clock),
    search: { ...customerSearchOf(engine, provider), ...transactionSearchOf(engine, provider) },
    auditTrail: auditTrailOf(engine),
    retention: retentionOf(engine, provider.zone),
    check: () => checkStore(engine),
    findToken: (hash) => findToken(engine.db, hash),
    listSecrets: () => listSecrets(engine.db),
    currentRevision: (environment) => currentRevision(engine.db, environment),
    readCatalogue: (revision) => readCatalogue(engine.db, provider, revision),
  };
}

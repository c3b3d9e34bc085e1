import type { Exchange } from "./exchange.ts";
import type { RefusedRepeat } from "./repeats.ts";
import type { JsonObject } from "./shape.ts";

export type Version = "v1.0.1" | "v1.0.0";
export type Service = "tv" | "internet" | "iptv";
export type Operation =
  | "get-customer-information"
  | "get-subscription-package"
  | "subscription-package-topup"
  | "txn-status";

export const VERSIONS: readonly Version[] = ["v1.0.1", "v1.0.0"];
export const SERVICES: readonly Service[] = ["internet", "tv", "iptv"];

/** A connection as the look-up named it. */
export interface Connection {
  readonly service: Service;
  readonly reqId: string;
  readonly isActive: boolean;
}

/** One answer of get-subscription-package. */
export interface Listing {
  readonly connection: Connection;
  /** False where the interface does not say that this connection can be listed at all. */
  readonly isCertain: boolean;
  readonly exchange: Exchange;
}

export type CodeKind = "cuid" | "stb" | "username" | "iptv username";

/** A look-up of the same customer by another code. */
export interface LookUp {
  readonly kind: CodeKind;
  readonly isCertain: boolean;
  readonly exchange: Exchange;
}

/** What is to be bought: the cheapest thing that will do, or what the caller has chosen. */
export interface Plan {
  readonly connection: Connection;
  readonly bouquetId: string;
  readonly bouquetName: string;
  /** As it is sent. */
  readonly amt: string;
}

/** Everything that happened around the one top-up of a version. What was not reached is missing. */
export interface Spending {
  /** Why no top-up was sent, or nothing more after it. */
  readonly stopped?: string;
  /** Something else than announced may have been bought, so the other versions buy nothing either. */
  readonly isInDoubt?: boolean;
  /** txn-status told of the top-up only when it was asked again. */
  readonly isLate?: boolean;
  readonly plan?: Plan;
  readonly sent?: Readonly<Record<string, string>>;
  /** Every listing, in order. */
  readonly listings?: readonly Exchange[];
  readonly before?: Exchange;
  readonly wrongAmount?: Exchange;
  readonly wrongBouquet?: Exchange;
  readonly wrongReqId?: Exchange;
  readonly wrongCuid?: Exchange;
  readonly statusAfterRefusals?: Exchange;
  /** The top-up with a checkoutId that the other version has listed. If it was refused, `topUp` is with one of its own. */
  readonly listedElsewhere?: Exchange;
  readonly topUp?: Exchange;
  readonly status?: Exchange;
  readonly after?: Exchange;
  readonly repeat?: Exchange;
  readonly statusAfterRepeat?: Exchange;
  readonly afterRepeat?: Exchange;
  readonly otherForm?: Exchange;
  readonly otherValues?: Exchange;
  readonly longReference?: Exchange;
  readonly refusedRepeats?: ReadonlyMap<RefusedRepeat, Exchange>;
  readonly statusElsewhere?: Exchange;
  readonly repeatElsewhere?: Exchange;
  readonly statusAtEnd?: Exchange;
  readonly atEnd?: Exchange;
  /** A first top-up without an access token. */
  readonly missingToken?: Exchange;
  /** A top-up with a checkoutId that was listed more than five minutes before. */
  readonly expired?: Exchange;
  /** The listing a moment after everything, before anything else is bought for the connection. */
  readonly late?: Exchange;
}

/** What was seen of one version. Checks judge this, and send nothing themselves. */
export interface VersionFacts {
  readonly version: Version;
  readonly lookUp: Exchange;
  readonly customer: JsonObject | undefined;
  readonly cuid: string | undefined;
  readonly connections: readonly Connection[];
  readonly otherLookUps: readonly LookUp[];
  readonly withoutToken: Exchange | undefined;
  /** A listing that was asked for without an access token. */
  readonly listingWithoutToken: Exchange | undefined;
  readonly listings: readonly Listing[];
  /** txn-status for a checkoutId that was issued and not used, and that checkoutId. */
  readonly unusedStatus: Exchange | undefined;
  readonly unusedCheckoutId: string | undefined;
  /** Those that the versions before this one have given. */
  readonly earlierCheckoutIds: readonly string[];
  readonly probes: ReadonlyMap<string, Exchange>;
  /** Every answer of the version, in order. */
  readonly exchanges: readonly Exchange[];
  readonly spending: Spending | undefined;
}

/** What was seen of all versions. */
export interface RunFacts {
  readonly versions: readonly VersionFacts[];
}

import type { Exchange, ReceivedHeaders } from "./exchange.ts";
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

/** A connection in the look-up. */
export interface Connection {
  readonly service: Service;
  readonly reqId: string;
  readonly isActive: boolean;
}

/** One answer of get-subscription-package. */
export interface Listing {
  readonly connection: Connection;
  /** False if the interface does not promise that this connection can be listed. */
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

/** The planned top-up: the cheapest one possible, or the caller's choice. */
export interface Plan {
  readonly connection: Connection;
  readonly bouquetId: string;
  readonly bouquetName: string;
  /** The amount as sent. */
  readonly amt: string;
}

/** A repeat of the top-up that topupd refuses. It buys nothing even if accepted: its checkoutId is used. */
export type RefusedRepeat =
  | "otherReqId"
  | "otherCuid"
  | "otherService"
  | "otherBouquet"
  | "exponent"
  | "rounded"
  | "missingToken"
  | "unknownToken"
  | "plainText";

/** Everything around the one top-up of a version. Steps that were not reached are missing. */
export interface Spending {
  /** Why no top-up was sent, or why nothing more was sent after it. */
  readonly stopped?: string;
  /** Whether something else than announced may have been bought: then the other versions buy nothing. */
  readonly isInDoubt?: boolean;
  /** Whether txn-status showed the top-up only at a later query. */
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
  /** The top-up with the other version's checkoutId. If it was refused, `topUp` uses the version's own. */
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
  /** A top-up with a checkoutId older than five minutes. */
  readonly expired?: Exchange;
  /** The listing a moment later, before the next top-up of the connection. */
  readonly late?: Exchange;
}

/** A practice connection of topupd, and its fault. */
export interface Fault {
  /** The username of the connection. */
  readonly name: string;
  /** The wrong answer to a top-up. */
  readonly answer:
    | "nothing"
    | "half"
    | "page"
    | "unavailable"
    | "rate_limited"
    | "checkout_expired"
    | "bouquet_unavailable"
    | "insufficient_balance"
    | "limit_reached";
  /** How many requests with one checkoutId get it, before the real answer. */
  readonly times: number;
  /** Answer of txn-status after the fault. */
  readonly status: "recorded" | "not_topped_up" | "never_topped_up";
  /** Whether the wrong answer is the real one: no request buys. */
  readonly isRefused?: true;
}

/** The calls of one fault, with one checkoutId. */
export interface FaultCalls {
  readonly fault: Fault;
  readonly answers: readonly Exchange[];
  readonly status: Exchange;
  readonly repeat: Exchange;
  readonly statusAtEnd: Exchange;
  /** The listings before the first request, before the repetition, and after it. */
  readonly listings: readonly [Exchange, Exchange, Exchange];
}

/** The faults of topupd's practice customer. */
export interface Practice {
  readonly calls: readonly FaultCalls[];
  /** Why faults are missing. */
  readonly stopped?: string;
  /** Whether something else than announced may have been bought. */
  readonly isInDoubt?: boolean;
}

/** The answers of one version. Checks judge them and send nothing themselves. */
export interface VersionFacts {
  readonly version: Version;
  readonly lookUp: Exchange;
  readonly customer: JsonObject | undefined;
  readonly cuid: string | undefined;
  readonly connections: readonly Connection[];
  readonly otherLookUps: readonly LookUp[];
  readonly withoutToken: Exchange | undefined;
  /** A listing without an access token. */
  readonly listingWithoutToken: Exchange | undefined;
  readonly listings: readonly Listing[];
  /** txn-status for an unused checkoutId, and that checkoutId. */
  readonly unusedStatus: Exchange | undefined;
  readonly unusedCheckoutId: string | undefined;
  /** checkoutIds from the versions checked before. */
  readonly earlierCheckoutIds: readonly string[];
  readonly probes: ReadonlyMap<string, Exchange>;
  /** Every answer of the version, in order. */
  readonly exchanges: readonly Exchange[];
  readonly spending: Spending | undefined;
  readonly practice: Practice | undefined;
}

/** One request of a webhook. */
export interface Delivery {
  readonly headers: ReceivedHeaders;
  readonly body: Uint8Array;
  /** The body as JSON; undefined if it is none. */
  readonly fact: unknown;
}

/** Webhook calls about a top-up that topupd reversed. */
export interface WebhookFacts {
  /** All calls in the order of arrival, also repeated ones. */
  readonly deliveries: readonly Delivery[];
  readonly topUp?: Exchange;
  /** Why nothing was bought. */
  readonly stopped?: string;
  readonly secret: string;
}

export interface RunFacts {
  readonly versions: readonly VersionFacts[];
  /** Undefined if no webhook was to be received. */
  readonly webhook: WebhookFacts | undefined;
}

import type { Environment } from "../domain/customer.ts";
import type * as store from "../store/ports.ts";
import type { TokenUses } from "./authenticate.ts";
import type { Observer, Recording } from "./observer.ts";

/** What serving partners needs of the world. */
export interface Ports extends store.Ports {
  /** Undefined if nothing is counted. */
  readonly observer?: Observer | undefined;
  /** Undefined if nobody asks whether top-ups can be recorded. */
  readonly recording?: Pick<Recording, "succeeded" | "failed"> | undefined;
  /** Undefined if the last use of tokens is not stored. */
  readonly tokenUses?: Pick<TokenUses, "note"> | undefined;
}

/** The partner that sent a request. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
  /** Of the access token; undefined for histories that topupd makes itself. */
  readonly tokenId: string | undefined;
}

import type { ProviderRow } from "../common/provider-settings.ts";
import { StoreUnavailable } from "../errors.ts";
import type { FileIdentities } from "./file.ts";
import type { Settled, SettlingItem } from "./settling.ts";

/*
 * What two threads say to each other. Everything is copied on its way, and nothing but data can be.
 */

/** What the thread is given as it begins. */
export interface SettlingThreadData {
  readonly path: string;
  /** The files that the store has open: the thread takes no others for them. */
  readonly files: FileIdentities;
  /** What the store takes the database's times and prices for. */
  readonly provider: ProviderRow;
}

/**
 * Batches are answered in the order in which they were asked, each once. `rest` says that an answer was heard, and `close`
 * that no batch will come any more.
 */
export type ToThread = { readonly settle: readonly SettlingItem[] } | "rest" | "close";
export type FromThread = { readonly settled: readonly Settled[] } | { readonly failed: PackedError };

/** An error without its class, which no message keeps. */
export interface PackedError {
  readonly isUnavailable: boolean;
  readonly message: string;
  readonly stack: string | undefined;
  readonly errcode: unknown;
  readonly cause: PackedError | undefined;
}

export function packError(error: unknown): PackedError {
  const { message, stack, cause, errcode } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    readonly errcode?: unknown;
  };
  return {
    isUnavailable: error instanceof StoreUnavailable,
    message,
    stack,
    errcode,
    cause: cause === undefined ? undefined : packError(cause),
  };
}

export function unpackError({ isUnavailable, message, stack, errcode, cause }: PackedError): Error {
  const Type = isUnavailable ? StoreUnavailable : Error;
  const error = new Type(message, cause === undefined ? undefined : { cause: unpackError(cause) });
  if (stack !== undefined) error.stack = stack;
  return errcode === undefined ? error : Object.assign(error, { errcode });
}

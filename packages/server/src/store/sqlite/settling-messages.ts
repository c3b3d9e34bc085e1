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
 * What is asked has a number, and is answered by it. An empty batch asks whether the database can be reached. `rest` says
 * that an answer was heard, and `close` that nothing will be asked any more.
 */
export type ToThread = { readonly id: number; readonly batch: readonly SettlingItem[] } | "rest" | "close";
export type FromThread =
  | { readonly id: number; readonly settled: readonly Settled[] }
  | { readonly id: number; readonly failed: PackedError };

/** An error as data: no message keeps its class. */
export interface PackedError {
  readonly isUnavailable: boolean;
  readonly type: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
  readonly errcode: unknown;
  readonly cause: PackedError | undefined;
}

/** Errors that caused others, counted from the one that was met. */
const MOST_CAUSES = 3;

export function packError(error: unknown, causes = MOST_CAUSES): PackedError {
  const met = error instanceof Error ? error : new Error(String(error));
  const { message, stack, cause, code, errcode } = met as Error & Record<"code" | "errcode", unknown>;
  return {
    isUnavailable: met instanceof StoreUnavailable,
    type: met.constructor.name,
    message,
    stack,
    code,
    errcode,
    cause: cause === undefined || causes === 0 ? undefined : packError(cause, causes - 1),
  };
}

export function unpackError({ isUnavailable, type, message, stack, code, errcode, cause }: PackedError): Error {
  // A class that has the name of the one that was thrown, for the log.
  const Defect = { [type]: class extends Error {} }[type] as ErrorConstructor;
  const options = cause === undefined ? {} : { cause: unpackError(cause) };
  const error = isUnavailable ? new StoreUnavailable(message, options) : new Defect(message, options);
  if (stack !== undefined) error.stack = stack;
  if (code !== undefined) Object.assign(error, { code });
  if (errcode !== undefined) Object.assign(error, { errcode });
  return error;
}

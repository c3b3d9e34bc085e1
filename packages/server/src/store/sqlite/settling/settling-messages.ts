import type { Instant } from "../../../domain/calendar.ts";
import { type SettledTopUp, type TopUpCommand, transactionOf } from "../../../domain/top-up.ts";
import type { RulesOnRecord } from "../../../domain/zone-rules.ts";
import type { ProviderRow } from "../../common/provider-settings.ts";
import type { Settled, SettlingItem } from "../../common/settling.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { FileIdentities } from "../file-watch.ts";

/*
 * What two threads say to each other. Everything is copied on its way, and nothing but data can be; an object takes
 * several times as long as a list of its values.
 */

/** What the thread is given as it begins. */
export interface SettlingThreadData {
  readonly path: string;
  /** The files that the store has open: the thread takes no others for them. */
  readonly files: FileIdentities;
  /** What the store takes the database's times and prices for. */
  readonly provider: ProviderRow;
  /** By what rules of the zone the database was used, where they have changed. */
  readonly rules: readonly RulesOnRecord[];
}

/**
 * What is asked has a number, and is answered by it. An empty batch asks whether the database can be reached. `rest` says
 * that an answer was heard, and `close` that nothing will be asked any more.
 */
export type ToThread = BatchMessage | "rest" | "close";
export interface BatchMessage {
  readonly id: number;
  readonly batch: readonly PackedItem[];
}
export type FromThread =
  | CheckpointMessage
  | { readonly id: number; readonly settled: readonly PackedOutcome[] }
  | { readonly id: number; readonly failed: PackedError };

/** How a checkpoint has ended, of which nobody has asked. */
export interface CheckpointMessage {
  readonly trouble: string | undefined;
}

type PackedTopUp = readonly [
  ...[checkoutId: string, issuedAt: Instant, revision: number, txnId: string, partnerId: number],
  ...[environment: TopUpCommand["environment"], cuid: string, service: TopUpCommand["service"], reqId: string],
  ...[bouquetCode: string, amount: TopUpCommand["amount"], udf1: string | undefined, udf2: string | undefined],
];
/** A top-up, or the checkoutId of a conclusion. */
type PackedItem = PackedTopUp | string;
/** Of a top-up that was recorded, whoever asked for it lacks nothing but its time. */
type PackedOutcome = Instant | Settled;

export function packItem(item: SettlingItem): PackedItem {
  if (item.kind === "conclusion") return item.checkoutId;
  const { checkoutId, checkout, txnId, partnerId, environment, cuid, service, reqId, ...what } = item.command;
  return [
    ...([checkoutId, checkout.issuedAt, checkout.revision, txnId, partnerId] as const),
    ...([environment, cuid, service, reqId] as const),
    ...([what.bouquetCode, what.amount, what.udf1, what.udf2] as const),
  ];
}

export function unpackItem(packed: PackedItem): SettlingItem {
  if (typeof packed === "string") return { kind: "conclusion", checkoutId: packed };
  const [checkoutId, issuedAt, revision, txnId, partnerId, environment, cuid, service, reqId, ...what] = packed;
  const [bouquetCode, amount, udf1, udf2] = what;
  const key = { environment, cuid, service, reqId };
  const checkout = { issuedAt, revision };
  return {
    kind: "top_up",
    command: { checkoutId, checkout, txnId, partnerId, ...key, bouquetCode, amount, udf1, udf2 },
  };
}

export function packOutcome(settled: Settled): PackedOutcome {
  return isRecorded(settled) ? settled.transaction.at : settled;
}

/** @param item that was settled. */
export function unpackOutcome(packed: PackedOutcome, item: SettlingItem | undefined): Settled {
  if (typeof packed !== "number") return packed;
  if (item?.kind !== "top_up") throw new Error("what was recorded is no top-up that was asked for");
  return { kind: "recorded", transaction: transactionOf(item.command, packed) };
}

function isRecorded(settled: Settled): settled is Extract<SettledTopUp, { kind: "recorded" }> {
  return typeof settled === "object" && "kind" in settled && settled.kind === "recorded";
}

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

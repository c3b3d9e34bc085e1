import { type TopUpCommand, transactionOf } from "../../../domain/top-up.ts";
import type { Instant } from "../../../domain/wall-time.ts";
import { createZone, type Zone } from "../../../domain/zone.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { Settled, SettlingItem } from "../../settling.ts";
import type { ProviderSettings } from "../../store.ts";

/*
 * What two threads say to each other. Everything is copied on its way, and nothing but data can be; an object takes
 * several times as long as a list of its values.
 */

/** What the thread is given as it begins. */
export interface SettlingThreadData extends Omit<ProviderSettings, "zone" | "normaliseMobile"> {
  readonly path: string;
  readonly timeZone: string;
}

export function threadData(path: string, provider: ProviderSettings): SettlingThreadData {
  const { zone, currencyExponent, defaultCountry, basePlans } = provider;
  return { path, timeZone: zone.name, currencyExponent, defaultCountry, basePlans };
}

export function providerOf({ timeZone, currencyExponent, defaultCountry, basePlans }: SettlingThreadData) {
  return { zone: createZone(timeZone), currencyExponent, defaultCountry, basePlans } satisfies ProviderSettings;
}

/** What is asked has a number, and is answered by it. An empty batch asks whether the database can be reached. */
export type ToThread = BatchMessage | "close";
export interface BatchMessage {
  readonly id: number;
  readonly batch: readonly PackedItem[];
}
export type FromThread =
  | { readonly id: number; readonly settled: readonly PackedOutcome[] }
  | FailedMessage
  /** Of checkpoints, which nobody has asked for. */
  | { readonly trouble: string | undefined };
/** No message keeps the class of an error that is not JavaScript's own. */
export interface FailedMessage {
  readonly id: number;
  readonly failed: unknown;
  readonly isUnavailable: boolean;
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
  const isRecorded = typeof settled === "object" && "kind" in settled && settled.kind === "recorded";
  return isRecorded ? settled.transaction.at : settled;
}

/** @param item that was settled. */
export function unpackOutcome(packed: PackedOutcome, item: SettlingItem | undefined, zone: Zone): Settled {
  if (typeof packed !== "number") return packed;
  if (item?.kind !== "top_up") throw new Error("what was recorded is no top-up that was asked for");
  return { kind: "recorded", transaction: transactionOf(item.command, zone.moment(packed)) };
}

export function unpackError({ failed, isUnavailable }: FailedMessage): Error {
  const error = failed instanceof Error ? failed : new Error(String(failed));
  return isUnavailable ? new StoreUnavailable(error.message, { cause: error.cause }) : error;
}

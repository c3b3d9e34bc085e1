import { type FailureCode, KNOWN_FAILURES, type Purchase, type TransactionResult } from "../../src/index.ts";

/** 2026-11-20 09:00:00 UTC. */
export const START = Date.UTC(2026, 10, 20, 9);

export const TOKEN = "topup_trial_0123/4567+89abcdefghijklmnopqrstuvwxyz";

export const PURCHASE = {
  cuid: "1000003",
  service: "tv",
  reqId: "000100000000003",
  checkoutId: "EAGh-CFOCQAAAcXT7h38gK1rCp-Nle2EZftEjFcAekELAJGHQTs1-bFTV67StJZl",
  bouquetId: "TRIAL-TV-3M",
  amt: "1290.00",
} as const satisfies Purchase;

export const RESULT: TransactionResult = {
  orderId: PURCHASE.checkoutId,
  txnId: "01M7W22KH9PF6EHMJAC5TBSWNM",
  cuid: PURCHASE.cuid,
  reqId: PURCHASE.reqId,
  bouquetId: PURCHASE.bouquetId,
  amt: "1290",
  txnDate: "2026-11-20 08:44:54",
  status: "success",
  service: "tv",
};

export const PREFIX = "/staging/api/third-party";
export const BASE = `https://topup.example${PREFIX}/v1.0.1`;
export const BASE_1_0_0 = `https://topup.example${PREFIX}/v1.0.0`;

/** What comes back from the network, or does not. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function reply(status: number, json: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, text: JSON.stringify(json), headers: { "content-type": "application/json", ...headers } };
}

export function page(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, text: "<html>Bad gateway</html>", headers: { "content-type": "text/html", ...headers } };
}

/** A recorded result, as both operations answer it. */
export function recorded(changes: object = {}, headers: Readonly<Record<string, string>> = {}): Reply {
  const result = { ...RESULT, amt: 1290, ...changes };
  return reply(200, { success: true, code: "400ab001", body: { result } }, headers);
}

/** One of topupd's failures. */
export function failure(
  code: FailureCode,
  changes: object = {},
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const { httpStatus, reason, retry } = KNOWN_FAILURES[code];
  const body = { reason, message: `This is ${reason}.`, retry, requestId: "4e21cd0cdd27-11", ...changes };
  return reply(httpStatus, { success: false, code, body }, headers);
}

/** How another deployment may say no. */
export function otherFailure(status: number, code = "E-17"): Reply {
  return reply(status, { success: false, code, error: "Something is not right" });
}

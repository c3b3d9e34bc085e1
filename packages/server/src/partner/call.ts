import type { Peer } from "../domain/address-list.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Answering } from "../domain/practice.ts";
import type { Answer } from "./answer.ts";
import type { FailureDetail, FailureReason } from "./failures.ts";
import type { Caller, ServedOperation } from "./ports.ts";

export interface Route {
  readonly url: string;
  /** Undefined for pages. */
  readonly operation: ServedOperation | undefined;
  /** Headers of every answer on this path: names and values alternate. */
  readonly headers: readonly string[];
}

/** How an answer is sent to the practice customer, if not whole and at once. */
export type Sending = Extract<Answering, "nothing" | "half" | "late">;

/** The outcome of an operation. */
export type Outcome =
  | { readonly ok: true; readonly answer: Answer; readonly isReplay: boolean; readonly sending?: Sending | undefined }
  | ({ readonly ok: false; readonly reason: FailureReason } & FailureDetail);

/**
 * How a call ended: the whole answer was written, or the caller left before. A caller that closes its own direction early
 * counts as gone: the answer is written, but most such callers do not read it.
 */
export type Ending = "answered" | "gave_up";

/** One request, from its arrival to the end of its answer. A door creates it, the pipeline decides it. */
export abstract class Call implements Peer {
  readonly id: string;
  /** Undefined if the path is unknown. */
  readonly route: Route | undefined;
  /** Time of arrival on the stopwatch, in milliseconds. */
  readonly began: number;
  /** Set when the access token is accepted. */
  caller: Caller | undefined = undefined;
  /** The partner whose token was refused, for the log and the list of refused calls. */
  refusedHolder: Caller | undefined = undefined;
  body: JsonObject | undefined = undefined;
  /** The reason, if the call failed. */
  outcome: FailureReason | undefined = undefined;
  /** More about the failure. */
  failure: FailureDetail | undefined = undefined;
  isReplay = false;
  /** Whether the service was overloaded, and the request was refused unread. */
  isTurnedAway = false;
  /** Set when the call is decided or too late; a later result is not sent. */
  answer: Answer | undefined = undefined;

  constructor(id: string, route: Route | undefined, began: number) {
    this.id = id;
    this.route = route;
    this.began = began;
  }

  /** The access token; undefined unless there is just one. */
  abstract readonly token: string | undefined;
  /** The caller's IP address. */
  abstract readonly ip: string | undefined;
  /** False until the whole request has arrived. */
  abstract readonly isWhole: boolean;

  /** Gives the body to the pipeline. Called when the token is accepted. */
  abstract receive(): void;

  /** @param isLast whether the socket ends with this answer. */
  abstract send(answer: Answer, isLast: boolean): void;

  /** Sends half of an answer, and destroys the socket. */
  abstract sendHalf(answer: Answer): void;

  /** Destroys the socket, because the answer cannot be written. */
  abstract abort(): void;
}

const BEARER = /^Bearer +([^ ]+) *$/i;

/** The access token in an Authorization header. */
export function tokenIn(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** @param headers names and values alternate. */
export function headerNames(headers: readonly string[]): string[] {
  return headers.filter((_each, index) => index % 2 === 0);
}

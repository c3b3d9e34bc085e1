import type { Peer } from "../domain/address-list.ts";
import type { JsonObject } from "../domain/json.ts";
import type { FailureReason } from "./failures.ts";
import type { Caller, ServedOperation } from "./ports.ts";

/** A path that is served. */
export interface Route {
  readonly url: string;
  /** Undefined for pages. */
  readonly operation: ServedOperation | undefined;
  /** Of every answer on this path: names and values in turn. */
  readonly headers: readonly string[];
}

export interface Answer {
  readonly status: number;
  /** Names and values in turn; without length, date and connection. */
  readonly headers: readonly string[];
  readonly body: string | Buffer;
}

/**
 * How a call ended: its whole answer was written, or its caller had left before. Who has left looks like who has only
 * closed its own direction, and counts as gone: the answer is written, but most of those who close early do not read it.
 */
export type Ending = "answered" | "gave_up";

/** One request of a partner, from its arrival to the end of its answer. Doors create calls, the pipeline decides them. */
export abstract class Call implements Peer {
  readonly id: string;
  /** Undefined where the path is none that is served. */
  readonly route: Route | undefined;
  /** When it arrived, by the stopwatch, in milliseconds. */
  readonly began: number;
  /** Set once the access token has been accepted. */
  caller: Caller | undefined = undefined;
  /** Whose token was sent, though it was not accepted: for the log, and for nothing else. */
  refusedHolder: Caller | undefined = undefined;
  body: JsonObject | undefined = undefined;
  /** Why it failed. */
  outcome: FailureReason | undefined = undefined;
  isReplay = false;
  /** Whether too many top-ups wait, and nothing of the request was read. */
  isTurnedAway = false;
  /** Once it is decided, perhaps since it took too long: what it comes to after that is not sent. */
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
  /** False while its caller is awaited for the rest of it. */
  abstract readonly isWhole: boolean;

  /** Called when the token has been accepted: the door gives the body to the pipeline. */
  abstract receive(): void;

  /** Writes the answer. @param isLast whether the socket ends with it. */
  abstract send(answer: Answer, isLast: boolean): void;

  /** Ends the socket, since its answer cannot be written. */
  abstract abort(): void;
}

const BEARER = /^Bearer +([^ ]+) *$/i;

/** The access token in an Authorization header. */
export function tokenIn(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** @param headers names and values in turn. */
export function headerNames(headers: readonly string[]): string[] {
  return headers.filter((_each, index) => index % 2 === 0);
}

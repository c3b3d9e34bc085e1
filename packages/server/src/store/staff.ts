import type { Environment } from "../domain/customer.ts";
import type { LogInFailure } from "../domain/log-in.ts";
import type { Authority, StaffKey, StaffMember, StaffSession } from "../domain/staff.ts";
import type { Instant } from "../domain/wall-time.ts";

/*
 * What the console keeps: accounts, sessions and keys of staff, refused calls of partners, and the last imports. Every
 * method rejects as those of the store do. What changes an account or a key stands in the audit trail.
 */

/** What a log-in is checked against. Nothing of it is ever shown. */
export interface StaffSecrets {
  /** As the service hashed it. */
  readonly password: string;
  readonly totpSecret: string | undefined;
  /** The step of the last one-time code that was taken. */
  readonly totpStep: number | undefined;
  /** Hashes of the recovery codes that are left. */
  readonly recoveryCodes: readonly string[];
  /** From where the person has logged in, newest first: as networkOf gives them. */
  readonly networks: readonly string[];
}

/** A request with an Idempotency-Key, and its answer. */
export interface KeptAnswer {
  readonly request: Uint8Array;
  readonly status: number | undefined;
  readonly body: string | undefined;
}

/** How many networks of a person are remembered. */
export const NETWORKS_KEPT = 20;

export interface StaffAccounts {
  find(name: string): Promise<(StaffMember & { readonly secrets: StaffSecrets }) | undefined>;
  /**
   * Takes a one-time code, or a recovery code, that was checked: each is taken once.
   * @returns false where another log-in was quicker.
   */
  useCode(id: number, code: { readonly totpStep: number } | { readonly recoveryCode: string }): Promise<boolean>;

  /**
   * Counts a log-in as failed, unless `decide` says for how long nobody may try. Deletes failures up to `since`.
   * @param decide gets the failures of the source after `since`, newest first.
   * @returns what `decide` returned, in milliseconds.
   */
  beginLogIn(
    attempt: LogInFailure & { readonly id: string; readonly source: string },
    since: Instant,
    decide: (failures: readonly LogInFailure[]) => number,
  ): Promise<number>;
  /** Does not count a log-in any more. */
  forgetLogIn(id: string): Promise<void>;

  /**
   * Remembers the session's network.
   * @returns false where the person is gone, or has another password than this, by now.
   */
  openSession(hash: Uint8Array, staffId: number, password: string, session: StaffSession): Promise<boolean>;
  /** Whoever it is of, as they are now. */
  findSession(hash: Uint8Array): Promise<{ readonly member: StaffMember; readonly session: StaffSession } | undefined>;
  touchSession(hash: Uint8Array, at: Instant): Promise<void>;
  /** Newest first. */
  listSessions(staffId: number): Promise<StaffSession[]>;
  /** @returns false if the person has no such session. */
  endSession(staffId: number, id: string): Promise<boolean>;
  /** Lets go of those begun, or last used, before these times. */
  pruneSessions(begunBefore: Instant, usedBefore: Instant): Promise<void>;

  /** Whether the session, the account with its role, or the key still exists. */
  hasRights(authority: Authority): Promise<boolean>;

  findKey(hash: Uint8Array): Promise<StaffKey | undefined>;
  touchKey(hash: Uint8Array, at: Instant): Promise<void>;

  /**
   * Notes that a request is being answered, unless one with this hash is on record already.
   * @param asked.owner the account or key that asks.
   * @param most how many an owner may have on record; undefined for any number.
   * @returns what is on record; undefined if it is noted now; `too_many` if there is no room for it. `status` is undefined
   *   while it is not answered, `body` if the answer is not kept.
   */
  beginAnswer(
    asked: { readonly hash: Uint8Array; readonly owner: string; readonly request: Uint8Array; readonly at: Instant },
    most: number | undefined,
  ): Promise<KeptAnswer | "too_many" | undefined>;
  /** @param body undefined where it is not to be kept. */
  keepAnswer(hash: Uint8Array, status: number, body: string | undefined): Promise<void>;
  /** Lets go of what was noted before. */
  pruneAnswers(before: Instant): Promise<void>;
}

/** A refused call of a partner. */
export interface Attempt {
  readonly at: Instant;
  readonly partnerId: number;
  readonly environment: Environment;
  /** As the path has it. */
  readonly operation: string;
  /** Of the failure, as on the wire. */
  readonly reason: string;
  /** The customer id or code that was sent. */
  readonly code: string | undefined;
  readonly requestId: string;
}

/** For how long, and how many, refused calls are kept. */
export const ATTEMPTS_KEPT_MS = 30 * 86_400_000;
export const MOST_ATTEMPTS = 1_000_000;

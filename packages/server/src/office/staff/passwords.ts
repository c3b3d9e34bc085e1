import { isEasilyGuessed } from "../../domain/staff.ts";
import type { Ports } from "../../store/ports.ts";

/** Too many passwords wait to be hashed or checked. */
export class PasswordsBusy extends Error {
  override readonly name = "PasswordsBusy";
}

/** Passwords and one-time codes: made and checked. */
export interface AccountTools {
  /** Hashes slowly, with much memory. Like {@link AccountTools.checkPassword}, it rejects with {@link PasswordsBusy}. */
  hashPassword(password: string): Promise<string>;
  /** @param hashed undefined if there is no account: then the check takes as long, and is false. */
  checkPassword(password: string, hashed: string | undefined): Promise<boolean>;
  /** @param name of the account, which the person's device shows. */
  offerTotp(name: string): Promise<TotpOffer>;
  /**
   * @param after the step of the last code taken: only a later one is right.
   * @returns the step of the code; undefined if the code is wrong.
   */
  checkTotp(secret: string, code: string, after: number | undefined): Promise<number | undefined>;
}

export interface TotpOffer {
  /** The secret in base 32. */
  readonly secret: string;
  /** The `otpauth://` address, for a QR code. */
  readonly uri: string;
}

export type AccountPorts = Ports & { readonly accounts: AccountTools };

const LEAST_PASSWORD = 12;
const MOST_PASSWORD = 256;

export interface BadPassword {
  readonly kind: "bad_password";
  /** Words to follow "the password". */
  readonly problem: string;
}

/** @param name of the account. @returns the problem of an easily guessed password; undefined if there is none. */
export function refusePassword(password: string, name: string): BadPassword | undefined {
  const refused = (problem: string): BadPassword => ({ kind: "bad_password", problem });
  if (password.length < LEAST_PASSWORD) return refused(`must have ${LEAST_PASSWORD} characters or more`);
  if (password.length > MOST_PASSWORD) return refused(`must have at most ${MOST_PASSWORD} characters`);
  if (isEasilyGuessed(password, name)) return refused("is easy to guess: choose a longer, unusual password");
  return undefined;
}

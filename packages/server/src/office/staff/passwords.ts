import { isEasilyGuessed } from "../../domain/staff.ts";
import type { Ports } from "../../store/ports.ts";

/** Too many passwords wait to be hashed or checked. */
export class PasswordsBusy extends Error {
  override readonly name = "PasswordsBusy";
}

/** What is known of passwords and one-time codes where they are made and checked. */
export interface AccountTools {
  /** Takes a while, and much memory. Rejects with {@link PasswordsBusy}, as {@link AccountTools.checkPassword} does. */
  hashPassword(password: string): Promise<string>;
  /** @param hashed undefined where there is no account: then it takes as long, and is false. */
  checkPassword(password: string, hashed: string | undefined): Promise<boolean>;
  /** @param name of the account, as the person's device shows it. */
  offerTotp(name: string): Promise<TotpOffer>;
  /**
   * @param after the step of the last code that was taken: none before it, nor it, is taken.
   * @returns the step of the code; undefined where it is wrong.
   */
  checkTotp(secret: string, code: string, after: number | undefined): Promise<number | undefined>;
}

export interface TotpOffer {
  /** In base 32. */
  readonly secret: string;
  /** `otpauth://`, for a QR code. */
  readonly uri: string;
}

export type AccountPorts = Ports & { readonly accounts: AccountTools };

const LEAST_PASSWORD = 12;
const MOST_PASSWORD = 256;

export interface BadPassword {
  readonly kind: "bad_password";
  /** As it goes on after "the password". */
  readonly problem: string;
}

/** @param name of whom it is to be. @returns why nobody should have it; undefined where it may be. */
export function refusePassword(password: string, name: string): BadPassword | undefined {
  const refused = (problem: string): BadPassword => ({ kind: "bad_password", problem });
  if (password.length < LEAST_PASSWORD) return refused(`must have ${LEAST_PASSWORD} characters or more`);
  if (password.length > MOST_PASSWORD) return refused(`must have at most ${MOST_PASSWORD} characters`);
  if (isEasilyGuessed(password, name))
    return refused("is among those that are guessed first: take something longer that nobody else would");
  return undefined;
}

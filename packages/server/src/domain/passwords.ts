/** Too many passwords wait to be hashed or checked. */
export class PasswordsBusy extends Error {
  override readonly name = "PasswordsBusy";
}

/** Passwords and one-time codes: made and checked. */
export interface AccountTools {
  /** Hashes slowly, with much memory. Like {@link AccountTools.checkPassword}, it rejects with {@link PasswordsBusy}. */
  hashPassword(password: string): Promise<string>;
  /**
   * @param hashed undefined if there is no account: then the check takes as long, and is false.
   * @param isKnown whether the caller is at a known place. Strangers have a queue of their own.
   */
  checkPassword(password: string, hashed: string | undefined, isKnown: boolean): Promise<boolean>;
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

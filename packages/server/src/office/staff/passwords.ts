import { isEasilyGuessed } from "../../domain/guessable.ts";
import type { AccountTools } from "../../domain/passwords.ts";
import type { Ports } from "../../store/ports.ts";

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
  // One character can become 18, and two can become one.
  const lengths = [password.length, password.normalize("NFKC").length];
  if (Math.min(...lengths) < LEAST_PASSWORD) return refused(`must have ${LEAST_PASSWORD} characters or more`);
  if (Math.max(...lengths) > MOST_PASSWORD) return refused(`must have at most ${MOST_PASSWORD} characters`);
  if (isEasilyGuessed(password, name)) return refused("is easy to guess: choose a longer, unusual password");
  return undefined;
}

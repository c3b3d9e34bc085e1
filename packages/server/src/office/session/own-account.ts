import type { TotpOffer } from "../../domain/passwords.ts";
import { Refused } from "../../domain/refused.ts";
import {
  type AccountChange,
  formatRecoveryCode,
  hashRecoveryCode,
  RECOVERY_CODE_RANDOM_BYTES,
  RECOVERY_CODES,
  type StaffSession,
  sessionEnd,
} from "../../domain/staff.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Ports } from "../../store/ports.ts";
import { officeOf } from "../office.ts";
import { type BadPassword, refusePassword } from "../staff/passwords.ts";
import { type AccountValues, changeAccount, NO_TOTP } from "../staff/sql.ts";
import { beginAttempt, type LogInPorts, type StaffIdentity, type TooManyAttempts } from "./log-in.ts";
import { endSession, findStaff, listSessions } from "./sql.ts";

/*
 * People's own accounts. A stolen session creates no lasting access: the staff API asks for the password again before each
 * change that would outlast the session.
 */

/** A person who has logged in. */
export type Person = StaffIdentity & { readonly person: NonNullable<StaffIdentity["person"]> };

/** Sessions of the person, newest first. */
export async function listOwnSessions(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { person }: Person,
): Promise<readonly StaffSession[]> {
  const now = clock();
  return (await listSessions(store.engine.db, person.id)).filter((session) => sessionEnd(session, now) === undefined);
}

/** Ends this session or another one of the person. @returns false if the person has no such session. */
export function endOwnSession(
  { store }: Pick<Ports, "store">,
  { person }: Person,
  { id }: { readonly id: string },
): Promise<boolean> {
  return endSession(store.engine, person.id, id);
}

export type Confirmed =
  | { readonly kind: "confirmed" }
  | { readonly kind: "wrong_password" }
  /** The person has no password, and must prove to the issuer who they are. */
  | { readonly kind: "log_in_again" }
  | TooManyAttempts;

/** Time for which a log-in with the issuer counts as much as the password. */
export const PROOF_COUNTS_MS = 5 * 60_000;

/**
 * Checks the person's own password again. A wrong one counts as a failed log-in of this session: a stolen session cannot lock
 * the person out.
 */
export async function confirmPassword(
  ports: LogInPorts,
  { name, person }: Person,
  { password }: { readonly password: string },
): Promise<Confirmed> {
  if (person.logsInWith === "oidc") {
    const isRecent = ports.clock() - (person.authenticatedAt ?? 0) <= PROOF_COUNTS_MS;
    return { kind: isRecent ? "confirmed" : "log_in_again" };
  }
  const failed = { staff: name, address: undefined };
  const attempt = await beginAttempt(ports, { name, source: `session ${person.sessionId}`, isKnown: true });
  if ("waitMs" in attempt) {
    ports.logInFailed({ outcome: "too_many_attempts", ...failed });
    return { kind: "too_many_attempts", ...attempt };
  }
  const found = await findStaff(ports.store.engine.db, name);
  if (!(await attempt.check(password, found?.secrets.password))) {
    ports.logInFailed({ outcome: "wrong_credentials", ...failed });
    return { kind: "wrong_password" };
  }
  await attempt.succeeded();
  return { kind: "confirmed" };
}

/** Ends the person's other sessions. The new password must differ from the present one. */
export async function changeOwnPassword(
  ports: LogInPorts,
  person: Person,
  { password }: { readonly password: string },
): Promise<{ readonly kind: "changed" } | BadPassword> {
  const refused = refusePassword(password, person.name);
  if (refused !== undefined) return refused;
  const { accounts, store } = ports;
  const present = await findStaff(store.engine.db, person.name);
  if (await accounts.checkPassword(password, present?.secrets.password, true))
    return { kind: "bad_password", problem: "is your present password: choose another" };
  const to = { password: await accounts.hashPassword(password), mustChangePassword: false };
  await changeOwn(ports, person, "staff.password", to);
  return { kind: "changed" };
}

/** Offers of one-time codes that are not confirmed yet, in memory: the last one of each person. */
export class TotpOffers {
  readonly #clock: () => Instant;
  readonly #offers = new Map<number, { readonly secret: string; readonly until: Instant }>();

  constructor(clock: () => Instant) {
    this.#clock = clock;
  }

  keep(staffId: number, secret: string): void {
    this.#offers.set(staffId, { secret, until: this.#clock() + OFFERED_MS });
  }

  find(staffId: number): string | undefined {
    const offer = this.#offers.get(staffId);
    return offer !== undefined && this.#clock() < offer.until ? offer.secret : undefined;
  }

  forget(staffId: number): void {
    this.#offers.delete(staffId);
  }
}

const OFFERED_MS = 10 * 60_000;

export type OwnAccountPorts = LogInPorts & { readonly totpOffers: TotpOffers };

/** Offers one-time codes. They are required only after the person has confirmed the offer with a code. */
export async function offerOwnTotp(
  { accounts, totpOffers }: OwnAccountPorts,
  { name, person }: Person,
): Promise<TotpOffer> {
  const offer = await accounts.offerTotp(name);
  totpOffers.keep(person.id, offer.secret);
  return offer;
}

export type TotpConfirmed =
  /** `recoveryCodes` are shown once. */
  | { readonly kind: "switched_on"; readonly recoveryCodes: readonly string[] }
  /** There is no offer, or it is older than ten minutes. */
  | { readonly kind: "no_offer" }
  | { readonly kind: "wrong_code" };

/** Requires a code at each later log-in. Ends the person's other sessions. */
export async function confirmOwnTotp(
  ports: OwnAccountPorts,
  person: Person,
  { code }: { readonly code: string },
): Promise<TotpConfirmed> {
  const totpSecret = ports.totpOffers.find(person.person.id);
  if (totpSecret === undefined) return { kind: "no_offer" };
  const totpStep = await ports.accounts.checkTotp(totpSecret, code, undefined);
  if (totpStep === undefined) return { kind: "wrong_code" };
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () =>
    formatRecoveryCode(ports.random(RECOVERY_CODE_RANDOM_BYTES)),
  );
  const hashes = recoveryCodes.map(hashRecoveryCode);
  await changeOwn(ports, person, "staff.totp_on", { totpSecret, totpStep, recoveryCodes: hashes });
  ports.totpOffers.forget(person.person.id);
  return { kind: "switched_on", recoveryCodes };
}

/** Ends the person's other sessions. @throws Refused if the role requires codes. */
export async function switchOwnTotpOff(ports: LogInPorts, person: Person): Promise<void> {
  if (person.person.requiresTotp) throw new Refused("conflict", "your role requires one-time codes");
  return changeOwn(ports, person, "staff.totp_off", NO_TOTP);
}

async function changeOwn(
  ports: Ports,
  person: Person,
  change: AccountChange,
  to: Partial<AccountValues>,
): Promise<void> {
  await changeAccount(officeOf({ ...ports, actor: person }), person.name, [[change, to]], person.person.sessionId);
}

import { ROLES, type Role } from "./authority.ts";
import { STAFF_NAME } from "./names.ts";
import type { Instant } from "./wall-time.ts";

/* People whose accounts are with an OpenID Connect issuer. */

/** A person as the issuer describes them at a log-in. */
export interface IssuerPerson {
  /** Issuer and subject, which never change. */
  readonly subject: string;
  /** Undefined if no claim has a usable name. */
  readonly name: string | undefined;
  /** Undefined if the claim names no role. */
  readonly role: Role | undefined;
  /** Time at which the person last proved who they are; undefined if the issuer does not say. */
  readonly authenticatedAt: Instant | undefined;
}

/** @param claim a role, or a list of texts. @returns the highest role. */
export function roleOfClaim(claim: unknown): Role | undefined {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return ROLES.findLast((role) => values.includes(role));
}

/** Makes the first usable text fit for a staff name. */
export function nameOfClaims(...claims: readonly unknown[]): string | undefined {
  const texts = claims.filter((claim) => typeof claim === "string");
  return texts.map(fitName).find((name) => STAFF_NAME.test(name));
}

/** API keys are named `key NAME`. */
function fitName(text: string): string {
  const visible = text.replace(/\s+/gu, " ").replace(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, "");
  const [name = ""] = /^.{0,64}/u.exec(visible.trim().replace(/^(?:key )+/u, "")) ?? [];
  return name.trim();
}

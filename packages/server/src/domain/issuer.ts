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
  /** The claim `auth_time` of the ID token; undefined if there is none. */
  readonly authTime: unknown;
}

/** Why a log-in with the issuer failed. `failed`: also if the account was removed in between. */
export type IssuerProblem =
  | "unavailable"
  | "failed"
  | "too_many_attempts"
  | "not_recent"
  | "no_role"
  | "no_name"
  | "name_taken";

/** The log-in that the issuer was asked for. */
export interface AskedLogIn {
  readonly at: Instant;
  /** Longest time since the person proved to the issuer who they are. */
  readonly maxAgeMs: number;
}

/** How far the issuer's clock may be ahead. */
const AHEAD_MS = 60_000;

/**
 * Reads `auth_time`, in whole seconds.
 * @returns undefined if the issuer states none: the log-in then proves nothing. `not_recent` if it must not count at all.
 */
export function readAuthTime(
  claim: unknown,
  { at, maxAgeMs }: AskedLogIn,
  now: Instant,
): Instant | undefined | "not_recent" {
  if (claim === undefined) return undefined;
  const time = Number.isSafeInteger(claim) ? Number(claim) * 1000 : Number.NaN;
  return at - time <= maxAgeMs && time <= now + AHEAD_MS ? Math.min(time, now) : "not_recent";
}

/** Finds a claim by its exact name, or by a path with dots such as `realm_access.roles`. */
export function findClaim(claims: unknown, name: string): unknown {
  if (typeof claims !== "object" || claims === null) return undefined;
  const of = new Map(Object.entries(claims));
  if (of.has(name)) return of.get(name);
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const found = findClaim(of.get(name.slice(0, dot)), name.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
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

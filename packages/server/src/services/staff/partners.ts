import type { RefusedRotation, Rotation, Succession } from "../../domain/access-token.ts";
import {
  ACCESS_TOKEN_RANDOM_BYTES,
  type AccessToken,
  formatAccessToken,
  hashAccessToken,
  hasTokenEnded,
  type Partner,
  type PartnerStatus,
  TRIAL_TOKEN_VALID_MS,
} from "../../domain/access-token.ts";
import type { AddressList } from "../../domain/address-list.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";

/** 1 to 64 characters, without a blank at either end. */
export const NAME = /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u;

export type PartnerAdded =
  | { readonly kind: "added"; readonly partner: Partner }
  | { readonly kind: "name_taken" }
  /** It is empty, longer than 64 characters, or begins or ends with a blank. */
  | { readonly kind: "bad_name" };

export async function addPartner(
  ports: Ports,
  actor: Actor,
  { name }: { readonly name: string },
): Promise<PartnerAdded> {
  if (!NAME.test(name)) return { kind: "bad_name" };
  const partner = await ports.store.partners.add(name, attributionOf(ports, actor));
  return partner === "name_taken" ? { kind: "name_taken" } : { kind: "added", partner };
}

/** Suspends a partner, all of whose requests are refused then, or lets it call again. @returns undefined if there is none. */
export function setPartnerStatus(
  ports: Ports,
  actor: Actor,
  { name, status }: { readonly name: string; readonly status: PartnerStatus },
): Promise<Partner | undefined> {
  return ports.store.partners.setStatus(name, status, attributionOf(ports, actor));
}

/**
 * @param request.addresses from where the partner may call; undefined for anywhere.
 * @returns undefined if there is none.
 */
export function setPartnerAddresses(
  ports: Ports,
  actor: Actor,
  { name, addresses }: { readonly name: string; readonly addresses: AddressList | undefined },
): Promise<Partner | undefined> {
  return ports.store.partners.setAllowedAddresses(name, addresses, attributionOf(ports, actor));
}

export function listPartners({ store }: ReadingPorts): Promise<readonly Partner[]> {
  return store.partners.list();
}

const ID_RANDOM_BYTES = 9;

export interface IssueRequest {
  /** The partner's name. */
  readonly partner: string;
  readonly environment: Environment;
  /** Of a production token; undefined where it lasts until revoked. A trial token always ends seven days later. */
  readonly expiresAt?: Instant | undefined;
}

export type TokenIssued =
  /** `token` is shown once, and stored nowhere. */
  { readonly kind: "issued"; readonly token: string; readonly record: AccessToken } | { readonly kind: "no_partner" };

/** Issues an access token (interface, section 5). */
export async function issueToken(
  ports: Ports,
  actor: Actor,
  { partner: name, environment, expiresAt }: IssueRequest,
): Promise<TokenIssued> {
  const { store, random } = ports;
  const partner = await store.partners.find(name);
  if (partner === undefined) return { kind: "no_partner" };
  const by = attributionOf(ports, actor);
  const token = formatAccessToken(environment, random(ACCESS_TOKEN_RANDOM_BYTES));
  const record: AccessToken = {
    ...{ id: makeTokenId(random), partner, environment, createdAt: by.at },
    expiresAt: environment === "trial" ? by.at + TRIAL_TOKEN_VALID_MS : expiresAt,
    ...{ revokedAt: undefined, replacedBy: undefined },
  };
  await store.partners.addToken(record, hashAccessToken(token), by);
  return { kind: "issued", token, record };
}

export type TokenRotated =
  /** `token` is the new one: shown once, and stored nowhere. */
  (Rotation & { readonly token: string }) | RefusedRotation | { readonly kind: "not_found" };

export interface RotateRequest extends Omit<Succession, "id"> {
  /** Of the token that gets a successor. */
  readonly id: string;
}

/** Issues a new access token for the partner and environment of another, which ends after an overlap. */
export async function rotateToken(ports: Ports, actor: Actor, { id, ...terms }: RotateRequest): Promise<TokenRotated> {
  const { store, random } = ports;
  const former = (await store.partners.listTokens()).find((token) => token.id === id);
  if (former === undefined) return { kind: "not_found" };
  // What tokens are for never changes; whether this one may still be rotated is decided in the transaction.
  const token = formatAccessToken(former.environment, random(ACCESS_TOKEN_RANDOM_BYTES));
  const succession = { ...terms, id: makeTokenId(random) };
  const by = attributionOf(ports, actor);
  const rotated = await store.partners.rotateToken(id, succession, hashAccessToken(token), by);
  if (rotated === undefined) return { kind: "not_found" };
  return rotated.kind === "rotated" ? { ...rotated, token } : rotated;
}

/** Within a second, the token holds nowhere. @returns undefined if there is none. */
export function revokeToken(
  ports: Ports,
  actor: Actor,
  { id }: { readonly id: string },
): Promise<AccessToken | undefined> {
  return ports.store.partners.revokeToken(id, attributionOf(ports, actor));
}

export interface ListedToken {
  readonly token: AccessToken;
  readonly state: "valid" | "expired" | "revoked";
  /** A use is a request that was let through; those of the last half minute may be missing. */
  readonly lastUsedAt: Instant | undefined;
}

export async function listTokens({ store, clock }: Pick<Ports, "store" | "clock">): Promise<readonly ListedToken[]> {
  const [tokens, uses] = [await store.partners.listTokens(), await store.partners.lastUses()];
  const now = clock();
  return tokens.map((token) => ({ token, state: stateOf(token, now), lastUsedAt: uses.get(token.id) }));
}

function stateOf(token: AccessToken, now: Instant): ListedToken["state"] {
  if (token.revokedAt !== undefined) return "revoked";
  return hasTokenEnded(token, now) ? "expired" : "valid";
}

function makeTokenId(random: Ports["random"]): string {
  return `tok_${Buffer.from(random(ID_RANDOM_BYTES)).toString("hex")}`;
}

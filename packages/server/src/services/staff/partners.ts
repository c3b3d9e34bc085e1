import type { Partner, PartnerStatus } from "../../domain/access-token.ts";
import type { AddressList } from "../../domain/address-list.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";

/** 1 to 64 characters, without a blank at either end. */
const NAME = /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u;

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

/** The partner as it is now; or that there is none of this name. */
export type PartnerChanged = { readonly kind: "changed"; readonly partner: Partner } | { readonly kind: "not_found" };

/** Suspends a partner, all of whose requests are refused then, or lets it call again. */
export async function setPartnerStatus(
  ports: Ports,
  actor: Actor,
  { name, status }: { readonly name: string; readonly status: PartnerStatus },
): Promise<PartnerChanged> {
  return changed(await ports.store.partners.setStatus(name, status, attributionOf(ports, actor)));
}

/** @param request.addresses from where the partner may call; undefined for anywhere. */
export async function setPartnerAddresses(
  ports: Ports,
  actor: Actor,
  { name, addresses }: { readonly name: string; readonly addresses: AddressList | undefined },
): Promise<PartnerChanged> {
  return changed(await ports.store.partners.setAllowedAddresses(name, addresses, attributionOf(ports, actor)));
}

export function findPartner(
  { store }: ReadingPorts,
  { name }: { readonly name: string },
): Promise<Partner | undefined> {
  return store.partners.find(name);
}

export function listPartners({ store }: ReadingPorts): Promise<readonly Partner[]> {
  return store.partners.list();
}

function changed(partner: Partner | undefined): PartnerChanged {
  return partner === undefined ? { kind: "not_found" } : { kind: "changed", partner };
}

import { Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import { findPartner } from "./sql.ts";

/** Input that may name a partner. */
export const PARTNER = { partner: Type.Optional(Type.String({ maxLength: 64, description: "Name of a partner." })) };

/** @returns undefined if the input names no partner. @throws Refused if there is no partner with this name. */
export async function partnerIdOf(
  { store }: ReadingPorts,
  { partner: name }: { readonly partner?: string | undefined },
): Promise<number | undefined> {
  const partner = name === undefined ? undefined : await findPartner(store.engine.db, name);
  if (name !== undefined && partner === undefined) throw Refused.field("partner", "is not the name of a partner");
  return partner?.id;
}

import type { Environment } from "../../domain/customer.ts";
import { findCustomer } from "../../store/customers.ts";
import type { Store } from "../../store/store.ts";
import { Refused } from "../refused.ts";
import { findCuids, findCuidsByName } from "./sql.ts";

/** More customers than share a code; a list of them that is longer helps nobody. */
export const MOST_CANDIDATES = 20;

/** False for numbers: a wrong mobile number must not make topupd read the names of all customers. */
export function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** The customer id that a code, or else a name, fits. @throws Refused if it fits nobody, or several customers. */
export async function cuidMeant(store: Store, environment: Environment, code: string): Promise<string> {
  const [cuid, ...others] = await candidates(store, environment, code);
  if (others.length > 0) throw await severalFit(store, environment, code, [cuid ?? "", ...others]);
  if (cuid !== undefined) return cuid;
  const nobody = `no ${environment} customer has the ${mayBeName(code) ? "code or name" : "code"} ${code}`;
  const other = environment === "trial" ? "production" : "trial";
  const isElsewhere = (await candidates(store, other, code)).length > 0;
  throw new Refused("not_found", (name) => {
    return isElsewhere ? `${nobody}, but a ${other} one has: add ${name("environment", other)}` : nobody;
  });
}

async function candidates(store: Store, environment: Environment, code: string): Promise<string[]> {
  const cuids = await findCuids(store, environment, code, MOST_CANDIDATES);
  if (cuids.length > 0 || !mayBeName(code)) return cuids;
  return findCuidsByName(store.engine.db, environment, code, MOST_CANDIDATES);
}

async function severalFit(store: Store, environment: Environment, code: string, cuids: readonly string[]) {
  const lines: string[] = [];
  for (const cuid of cuids) {
    const { firstName, lastName } = (await findCustomer(store.engine.db, environment, cuid)) ?? {};
    lines.push(`  ${cuid}  ${firstName} ${lastName}`);
  }
  const more = cuids.length < MOST_CANDIDATES ? "" : ` (the first ${MOST_CANDIDATES})`;
  const several = `${code} fits several customers${more}: give the customer id of one with`;
  return new Refused("conflict", (name) => `${several} ${name("byCuid")}\n${lines.join("\n")}`);
}

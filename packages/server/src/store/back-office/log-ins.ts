import { networkOf } from "../../domain/address-list.ts";
import type { Engine } from "../engine.ts";
import { NETWORKS_KEPT, type StaffAccounts } from "../staff.ts";

/** Log-ins as the lock counts them. */
export function logInsOf(engine: Engine): Pick<StaffAccounts, "beginLogIn" | "forgetLogIn"> {
  return {
    // Changes nothing that is kept in memory: `change` runs them one at a time, so that log-ins at once count each other.
    beginLogIn: (attempt, since, decide) =>
      engine.change(async (tx) => {
        await tx.deleteFrom("log_in_failure").where("at", "<=", since).execute();
        const query = tx.selectFrom("log_in_failure").select(["name", "at"]).where("source", "=", attempt.source);
        const waitMs = decide(await query.orderBy("at", "desc").execute());
        if (waitMs === 0) await tx.insertInto("log_in_failure").values(attempt).execute();
        return waitMs;
      }),

    forgetLogIn: (id) =>
      engine.transact(async (tx) => {
        await tx.deleteFrom("log_in_failure").where("id", "=", id).execute();
      }),
  };
}

/** The networks of a person after a log-in from an address. */
export function remembered(networks: readonly string[], address: string | undefined): readonly string[] {
  if (address === undefined) return networks;
  const network = networkOf(address);
  return [network, ...networks.filter((each) => each !== network)].slice(0, NETWORKS_KEPT);
}

import { NOT_ENDED } from "../../domain/alert.ts";
import { readBalance } from "../../store/accounts.ts";
import type { Ports } from "../../store/ports.ts";
import { endAlert, openAlerts, raiseAlert } from "./sql.ts";

/** Raises an alert for each balance that is below its bound, and ends the alerts of all other balances. */
export async function raiseBalances({ store, clock }: Pick<Ports, "store" | "clock">): Promise<void> {
  const { engine } = store;
  const now = clock();
  const open = (await openAlerts(engine.db, now)).filter(({ kind }) => kind === "account.low");
  const still = new Set<(typeof open)[number]>();
  const bounds = engine.db.selectFrom("account").select(["partnerId", "environment", "alertBelow"]);
  for (const { alertBelow, ...key } of await bounds.where("alertBelow", "is not", null).execute()) {
    const [balance, below] = [await readBalance(engine.db, key), BigInt(alertBelow ?? 0)];
    if (balance >= below) continue;
    const known = open.find(({ partnerId, environment }) => {
      return partnerId === key.partnerId && environment === key.environment;
    });
    const alert = { kind: "account.low", ...key, at: now, limit: undefined, low: { balance, below } } as const;
    if (known === undefined) await raiseAlert(engine, alert, NOT_ENDED);
    else still.add(known);
  }
  for (const alert of open) if (!still.has(alert)) await endAlert(engine, alert, now);
}

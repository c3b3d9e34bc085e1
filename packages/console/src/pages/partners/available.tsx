import type { Account } from "../../api/staff-api.d.ts";
import { Amount, Badge } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";

/** The amount that a partner has available, in amber or red if the server says that its balance is low. */
export function Available({ of: { available, balanceState } }: { of: Pick<Account, "available" | "balanceState"> }) {
  const shown = available === null ? texts.partnerAccounts.anyAmount : <Amount of={available} />;
  return balanceState === "good" ? shown : <Badge tone={balanceState === "low" ? "warning" : "danger"}>{shown}</Badge>;
}

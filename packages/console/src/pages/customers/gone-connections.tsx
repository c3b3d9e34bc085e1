import type { PlanLedger } from "../../api/staff-api.d.ts";
import { Card } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "./connection-badge.tsx";
import { LedgerHistory } from "./ledger-history.tsx";

const t = texts.customers;

/** History of connections that are no longer in the provider's records. */
export function GoneConnections({ ledgers }: { ledgers: readonly PlanLedger[] }) {
  return (
    <Card title={t.gone}>
      <p className="muted">{t.goneConnectionText}</p>
      {ledgers.map((ledger) => (
        <LedgerHistory
          key={`${ledger.service} ${ledger.reqId} ${ledger.plan}`}
          ledger={ledger}
          title={`${connectionName(ledger)} · ${ledger.plan}`}
        />
      ))}
    </Card>
  );
}

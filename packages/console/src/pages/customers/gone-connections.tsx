import type { PlanLedger } from "../../api/staff-api.d.ts";
import { Card } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "./connection-badge.tsx";
import { LedgerHistory } from "./ledger-history.tsx";

const t = texts.customers;

/** What was done for connections that the provider's records no longer name. */
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

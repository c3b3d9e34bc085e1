import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Connection, Plan, PlanLedger } from "../../api/staff-api.d.ts";
import { ActionButton } from "../../components/dialog.tsx";
import { Card, connectionName, Grid, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { texts } from "../../texts/index.ts";
import { Corrections } from "./corrections.tsx";
import { LedgerHistory } from "./ledger-history.tsx";
import { PlanState } from "./plan-state.tsx";

const t = texts.customers;

type ConnectionsProps = { cuid: string; connections: readonly Connection[]; ledgers: readonly PlanLedger[] };

/** One line for each connection; those that ended are folded. The ledger of the chosen one opens below it. */
export function Connections({ cuid, connections, ledgers }: ConnectionsProps) {
  const [chosen, setChosen] = useState(connections.length === 1 ? connections.map(connectionName)[0] : undefined);
  const isOver = ({ status, plans: [first] }: Connection) =>
    status !== "blocked" && (first === undefined || OVER.has(first.state));
  const current = connections.filter((each) => !isOver(each));
  const over = connections.filter(isOver);
  const lines = (some: readonly Connection[]) =>
    some.map((connection) => {
      const name = connectionName(connection);
      const isChosen = name === chosen;
      const its = ledgers.filter(({ service, reqId }) => connectionName({ service, reqId }) === name);
      return (
        <li key={name}>
          <Line
            {...{ cuid, connection, isChosen, hasLedger: its.length > 0 }}
            onChoose={() => setChosen(isChosen ? undefined : name)}
          />
          {isChosen && (
            <Grid wide>
              {its.map((ledger) => (
                <LedgerHistory key={ledger.plan} ledger={ledger} title={ledger.plan} />
              ))}
            </Grid>
          )}
        </li>
      );
    });
  const resend = useSend("POST /customers/:cuid/resend");
  const environment = useEnvironment();
  const sendAgain = async () => t.sentAgain((await resend.mutateAsync({ environment, cuid })).sent);
  const mayResend = useMay("correct") && connections.some(({ chain }) => chain !== null);
  return (
    <Card
      title={t.connections}
      actions={mayResend && <ActionButton action={sendAgain}>{texts.targets.sendAgain}</ActionButton>}
    >
      <ul className="connection-lines">{lines(current.length === 0 ? over : current)}</ul>
      {current.length > 0 && over.length > 0 && (
        <details>
          <summary>{t.overConnections(over.length)}</summary>
          <ul className="connection-lines">{lines(over)}</ul>
        </details>
      )}
    </Card>
  );
}

const OVER: ReadonlySet<Plan["state"]> = new Set(["ended", "reversed"]);

type LineProps = { cuid: string; connection: Connection; isChosen: boolean; hasLedger: boolean; onChoose: () => void };

function Line({ cuid, connection, isChosen, hasLedger, onChoose }: LineProps) {
  const mayCorrect = useMay("correct");
  const name = connectionName(connection);
  const { plans, segment, status, blockedByRecords, blockedByStaff, chain } = connection;
  return (
    <div className="connection-line">
      <div>
        {hasLedger ? (
          <button type="button" className="link-button" aria-expanded={isChosen} onClick={onChoose}>
            {name}
          </button>
        ) : (
          name
        )}
        {segment !== null && <p className="muted">{t.segment(segment)}</p>}
        {status === "inactive" && plans.length === 0 && <p className="muted">{t.inactive}</p>}
      </div>
      <ul className="plan-lines">
        {plans.length === 0 && <li className="muted">{t.noSubscriptions}</li>}
        {plans.map((plan) => (
          <li key={plan.plan}>
            <span className="strong">{plan.run?.name ?? plan.plan}</span>
            <PlanState plan={plan} />
          </li>
        ))}
      </ul>
      {mayCorrect && (
        <div className="row">
          <Corrections cuid={cuid} connection={connection} />
        </div>
      )}
      {chain !== null && <p className={chain.isOff ? "connection-note" : "connection-chain"}>{chain.text}</p>}
      {blockedByRecords && <p className="connection-note">{t.blockedByRecords}</p>}
      {blockedByStaff !== null && (
        <p className="connection-note">
          {t.blockedBy(blockedByStaff.author)} <Time of={blockedByStaff.at} />: {blockedByStaff.reason}
        </p>
      )}
    </div>
  );
}

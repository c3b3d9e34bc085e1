import { useMay } from "../../api/session.tsx";
import type { Connection, PlanLedger } from "../../api/staff-api.d.ts";
import { Badge, Card, Grid, Time } from "../../components/display.tsx";
import { type Span, TimeLine } from "../../components/time-line.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName, STATUS_TONES } from "./connection-badge.tsx";
import { Corrections } from "./corrections.tsx";
import { LedgerHistory } from "./ledger-history.tsx";

const t = texts.customers;

interface ConnectionCardProps {
  readonly cuid: string;
  readonly connection: Connection;
  readonly ledgers: readonly PlanLedger[];
  readonly spans: readonly Span[];
  /** Subscriptions of all connections of the customer. */
  readonly allSpans: readonly Span[];
}

/** A connection: its facts, a time line, and its history in words. */
export function ConnectionCard({ cuid, connection, ledgers, spans, allSpans }: ConnectionCardProps) {
  const mayCorrect = useMay("correct");
  const { status, blockedByStaff, segment } = connection;
  const name = connectionName(connection);
  return (
    <Card title={name} actions={mayCorrect && <Corrections cuid={cuid} connection={connection} ledgers={ledgers} />}>
      <p className="row">
        <Badge tone={STATUS_TONES[status]}>{t.statuses[status]}</Badge>
        {status === "blocked" && (
          <span className="muted">{blockedByStaff === null ? t.blockedByRecords : <Block by={blockedByStaff} />}</span>
        )}
        {segment !== null && <span className="muted">{t.segment(segment)}</span>}
      </p>
      {spans.length === 0 && ledgers.length === 0 ? (
        <p className="muted">{t.noSubscriptions}</p>
      ) : (
        <Grid wide>
          <TimeLine label={t.timeLine(name)} spans={spans} scaleOf={allSpans} />
          <div className="stack">
            {ledgers.map((ledger) => (
              <LedgerHistory key={ledger.plan} ledger={ledger} title={ledger.plan} />
            ))}
          </div>
        </Grid>
      )}
    </Card>
  );
}

function Block({ by: { at, author, reason } }: { by: NonNullable<Connection["blockedByStaff"]> }) {
  return (
    <>
      {t.blockedBy(author)} <Time of={at} />: {reason}
    </>
  );
}

import { useMay, useMe } from "../../api/session.tsx";
import type { Connection, PlanLedger } from "../../api/staff-api.d.ts";
import { Card, connectionName, Grid, Time } from "../../components/display.tsx";
import { type Span, TimeLine } from "../../components/time-line.tsx";
import { wallNow } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { Corrections } from "./corrections.tsx";
import { headlineOf } from "./headline.ts";
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

/** A connection: the answer in one line, the actions, then a time line and the history in words. */
export function ConnectionCard({ cuid, connection, ledgers, spans, allSpans }: ConnectionCardProps) {
  const mayCorrect = useMay("correct");
  const { segment } = connection;
  const name = connectionName(connection);
  return (
    <Card title={name} actions={segment !== null && <span className="muted">{t.segment(segment)}</span>}>
      <HeadlineNote connection={connection} spans={spans} />
      {mayCorrect && (
        <div className="row">
          <Corrections cuid={cuid} connection={connection} ledgers={ledgers} />
        </div>
      )}
      {(spans.length > 0 || ledgers.length > 0) && (
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

function HeadlineNote({ connection, spans }: Pick<ConnectionCardProps, "connection" | "spans">) {
  const now = wallNow(useMe().provider.timeZone);
  const { tone, span } = headlineOf(connection, spans, now);
  const { status, blockedByStaff } = connection;
  return (
    <div className={`headline tone-${tone}`}>
      <p>
        <strong>{span?.label ?? t.noSubscriptions}</strong> {span?.when}
      </p>
      {status === "inactive" && <p>{t.inactive}</p>}
      {status === "blocked" && <p>{blockedByStaff === null ? t.blockedByRecords : <Block by={blockedByStaff} />}</p>}
    </div>
  );
}

function Block({ by: { at, author, reason } }: { by: NonNullable<Connection["blockedByStaff"]> }) {
  return (
    <>
      {t.blockedBy(author)} <Time of={at} />: {reason}
    </>
  );
}

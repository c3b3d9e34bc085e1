import { useState } from "react";
import { useMay } from "../../api/session.tsx";
import type { Connection, PlanLedger } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Badge, Card, Grid, Time } from "../../components/display.tsx";
import { type Span, TimeLine } from "../../components/time-line.tsx";
import { texts } from "../../texts/index.ts";
import { BlockDialog } from "./block-dialog.tsx";
import { connectionName, STATUS_TONES } from "./connection-badge.tsx";
import { GoodwillDialog } from "./goodwill-dialog.tsx";
import { GoodwillReversalDialog } from "./goodwill-reversal-dialog.tsx";
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

type Correction = "goodwill" | "goodwill-reversal" | "block";

/** Menu of corrections, and the dialog of the chosen one. */
function Corrections({ cuid, connection, ledgers }: Omit<ConnectionCardProps, "spans" | "allSpans">) {
  const [chosen, setChosen] = useState<Correction>();
  const close = () => setChosen(undefined);
  const name = connectionName(connection);
  const block = connection.blockedByStaff === null ? t.block : t.unblock;
  const given = ledgers.flatMap(({ plan, entries }) => {
    const last = entries.findLast(({ kind, reversedBy }) => kind === "goodwill" && reversedBy === null);
    return last === undefined ? [] : [{ plan, seq: last.seq }];
  });
  return (
    <>
      {ledgers.length > 0 && (
        <Button aria-label={t.of(t.giveDays, name)} onClick={() => setChosen("goodwill")}>
          {t.giveDays}
        </Button>
      )}
      {given.length > 0 && (
        <Button aria-label={t.of(t.takeBack, name)} onClick={() => setChosen("goodwill-reversal")}>
          {t.takeBack}
        </Button>
      )}
      <Button aria-label={t.of(block, name)} onClick={() => setChosen("block")}>
        {block}
      </Button>
      {chosen === "goodwill" && (
        <GoodwillDialog cuid={cuid} connection={connection} plans={ledgers.map(({ plan }) => plan)} onClose={close} />
      )}
      {chosen === "goodwill-reversal" && (
        <GoodwillReversalDialog cuid={cuid} connection={connection} given={given} onClose={close} />
      )}
      {chosen === "block" && <BlockDialog cuid={cuid} connection={connection} onClose={close} />}
    </>
  );
}

import { useApi } from "../../api/hooks.ts";
import type { Transaction } from "../../api/staff-api.d.ts";
import { CorrectionDialog } from "../../components/dialog.tsx";
import { Amount, Badge, connectionName, Fact, KeyValue, RunChange, Time } from "../../components/display.tsx";
import { Note } from "../../components/states.tsx";
import { minuteOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.transactions;

export function TransactionBadge({ status }: Pick<Transaction, "status">) {
  return <Badge tone={status === "success" ? "success" : "warning"}>{t.statuses[status]}</Badge>;
}

interface ReversalDialogProps {
  readonly topUp: ReversibleTopUp;
  readonly onClose: () => void;
}

export interface ReversibleTopUp extends Pick<Transaction, "txnId" | "service" | "reqId"> {
  /** Wall time of the top-up. */
  readonly wall: string;
  /** Null if the transaction is missing. */
  readonly partner: string | null;
  readonly amount: string | null;
}

/** Reverses a top-up. */
export function ReversalDialog({ topUp, onClose }: ReversalDialogProps) {
  const { txnId, wall, partner, amount } = topUp;
  const name = connectionName(topUp);
  const { data } = useApi("GET /transactions/:id", { id: txnId });
  const request = data?.approval?.state === "waiting" ? data.approval : undefined;
  return (
    <CorrectionDialog
      correction="POST /transactions/:id/reversal"
      input={{ id: txnId }}
      title={t.reverseTitle}
      description={t.reverseText}
      submit={t.reverse}
      danger
      show={({ status, before, after }) => (
        <>
          <RunChange before={before} after={after} />
          {status === "success" && <p>{t.secondPerson}</p>}
        </>
      )}
      done={({ status, plan, after }) => {
        if (status === "success") return t.requested;
        const of = `${plan}: ${name}`;
        return after === null ? t.doneAll(of) : t.done(of, minuteOf(after.end));
      }}
      onClose={onClose}
    >
      <KeyValue>
        <Fact label={t.at} value={<Time of={wall} />} />
        <Fact label={t.partner} value={partner} />
        <Fact label={t.amount} value={<Amount of={amount} />} />
        <Fact label={t.connection} value={name} />
      </KeyValue>
      {request && <Note tone="warning">{t.waits(request.requestedBy, request.reason)}</Note>}
    </CorrectionDialog>
  );
}

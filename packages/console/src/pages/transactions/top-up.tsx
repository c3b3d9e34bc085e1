import { Link } from "wouter";
import type { Transaction } from "../../api/staff-api.d.ts";
import { CorrectionDialog } from "../../components/dialog.tsx";
import { Amount, Badge, KeyValue, RunChange, Time } from "../../components/display.tsx";
import { customerHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import { minuteOf } from "../customers/ledger-words.ts";

const t = texts.transactions;

/** Main facts of a transaction, for other pages. */
export function TransactionFacts({ transaction }: { transaction: Transaction }) {
  const { cuid, txnDate, partner, bouquetName, bouquetId, amount } = transaction;
  return (
    <KeyValue
      items={[
        [t.at, <Time key="at" of={txnDate} />],
        [t.status, <TransactionBadge key="status" status={transaction.status} />],
        [t.amount, <Amount key="amount" of={amount} />],
        [t.partner, partner],
        [
          t.customer,
          <Link key="customer" href={customerHref(transaction)}>
            {cuid}
          </Link>,
        ],
        [t.connection, connectionName(transaction)],
        [t.bouquet, bouquetName ?? bouquetId],
      ]}
    />
  );
}

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
  return (
    <CorrectionDialog
      correction="POST /transactions/:id/reversal"
      input={{ id: txnId }}
      title={t.reverseTitle}
      description={t.reverseText}
      submit={t.reverse}
      danger
      show={({ before, after }) => <RunChange before={before} after={after} />}
      done={({ after }) => (after === null ? t.doneAll(name) : t.done(name, minuteOf(after.end)))}
      onClose={onClose}
    >
      <KeyValue
        items={[
          [t.at, <Time key="at" of={wall} />],
          [t.partner, partner],
          [t.amount, <Amount key="amount" of={amount} />],
          [t.connection, name],
        ]}
      />
    </CorrectionDialog>
  );
}

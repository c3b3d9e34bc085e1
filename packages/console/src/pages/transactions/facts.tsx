import { Link } from "wouter";
import type { Transaction } from "../../api/staff-api.d.ts";
import { Amount, Badge, KeyValue, Time } from "../../components/display.tsx";
import { customerHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";

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

import { type Column, DataTable } from "../components/data-table.tsx";
import { Amount, Card, Grid, Stat, Time } from "../components/display.tsx";
import { PageHead } from "../components/page-head.tsx";
import { EmptyState, Loaded } from "../components/states.tsx";
import { useCounter } from "./api.ts";
import type { OwnEntry } from "./counter-api.d.ts";
import { texts } from "./texts.ts";

const t = texts.account;

const COLUMNS: readonly Column<OwnEntry>[] = [
  { header: t.kind, cell: ({ kind }) => t.kinds[kind] },
  { header: t.time, cell: ({ txnDate }) => <Time of={txnDate} /> },
  { header: t.reference, isWide: true, cell: ({ reference, txnId }) => reference ?? txnId },
  {
    header: t.amount,
    isNumber: true,
    isAmount: true,
    place: "amount",
    cell: ({ amount }) => <Amount of={amount} bare />,
  },
  { header: t.after, isNumber: true, isAmount: true, cell: ({ balance }) => <Amount of={balance} bare /> },
];

/** The account of the shop. */
export default function Account() {
  const account = useCounter("GET /account", {});
  const entries = useCounter("GET /account/entries", { limit: 200 });
  return (
    <>
      <PageHead title={texts.pages.account} />
      <Loaded of={account}>
        {({ balance, available, creditLimit }) => (
          <Grid>
            <Stat label={t.balance} value={<Amount of={balance} />} />
            <Stat label={t.available} value={available === null ? t.none : <Amount of={available} />} />
            <Stat label={t.creditLimit} value={creditLimit === null ? t.none : <Amount of={creditLimit} />} />
          </Grid>
        )}
      </Loaded>
      <Card title={t.entries}>
        <Loaded of={entries}>
          {({ items }) => (
            <DataTable
              label={t.entries}
              columns={COLUMNS}
              rows={items}
              rowKey={({ at, kind, txnId, reference }) => `${at} ${kind} ${txnId ?? reference}`}
              empty={<EmptyState title={t.empty} />}
            />
          )}
        </Loaded>
      </Card>
    </>
  );
}

import { useMe } from "../api/session.tsx";
import { type Column, PagedTable } from "../components/data-table.tsx";
import { Amount, Grid, Stat, Time } from "../components/display.tsx";
import { PageHead } from "../components/page-head.tsx";
import { EmptyState, Loaded } from "../components/states.tsx";
import { monthName } from "../format.ts";
import { Available } from "../pages/partners/available.tsx";
import { texts } from "../texts/index.ts";
import { useApi, usePages } from "./api.ts";
import type { OwnEntry } from "./counter-api.d.ts";
import { counter as t } from "./texts.ts";

/** The account of the shop, with its entries of this month. */
export default function Account() {
  const { sellerOf, provider } = useMe();
  const [month = ""] = provider.calendar.months;
  const account = useApi("GET /account", {});
  const entries = usePages("GET /account/entries", {});
  const { balance, available, creditLimit, lines } = texts.partnerAccounts;
  return (
    <>
      <PageHead title={t.pages.account} lead={sellerOf} />
      <Loaded of={account}>
        {(found) => (
          <Grid>
            <Stat label={balance} value={<Amount of={found.balance} />} />
            <Stat label={available} value={<Available of={found} />} />
            {found.creditLimit !== null && <Stat label={creditLimit} value={<Amount of={found.creditLimit} />} />}
            {entries.first && <Stat label={lines.opening} value={<Amount of={entries.first.opening} />} />}
          </Grid>
        )}
      </Loaded>
      <h2>{t.entries(monthName(month))}</h2>
      <PagedTable
        label={t.entries(monthName(month))}
        columns={COLUMNS}
        pages={entries}
        rowKey={({ at, kind, txnId, reference }) => [at, kind, txnId, reference].join(" ")}
        empty={<EmptyState title={t.noEntries} />}
      />
    </>
  );
}

const COLUMNS: readonly Column<OwnEntry>[] = [
  { header: t.time, cell: ({ txnDate }) => <Time of={txnDate} /> },
  { header: t.kind, place: "name", cell: ({ kind }) => texts.partnerAccounts.lines[kind] },
  { header: t.reference, isWide: true, cell: ({ reference, txnId }) => reference ?? txnId },
  { header: t.amount, isAmount: true, place: "amount", cell: ({ amount }) => <Amount of={amount} bare /> },
  { header: texts.partnerAccounts.balance, isAmount: true, cell: ({ balance }) => <Amount of={balance} bare /> },
];

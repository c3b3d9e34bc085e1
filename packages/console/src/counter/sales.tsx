import { useCallback, useState } from "react";
import { Link } from "wouter";
import { useMe } from "../api/session.tsx";
import { Icon } from "../components/button.tsx";
import { TextInput } from "../components/controls.tsx";
import { type Column, PagedTable } from "../components/data-table.tsx";
import { ActionDialog } from "../components/dialog.tsx";
import { Amount, Badge, Card, CustomerName, connectionName, Time } from "../components/display.tsx";
import { TextFilter, useFilters } from "../components/filters.tsx";
import { Field } from "../components/form.tsx";
import { Menu, MenuItem } from "../components/menu.tsx";
import { PageHead } from "../components/page-head.tsx";
import { EmptyState, type Tone } from "../components/states.tsx";
import { formatMoney } from "../format.ts";
import { texts } from "../texts/index.ts";
import { usePages, useSend } from "./api.ts";
import type { Sale } from "./counter-api.d.ts";
import { OwnShift, OwnShifts } from "./shift.tsx";
import { counter as t } from "./texts.ts";

/** The own shift, and the sales of all sellers of the shop on one day, or those that a search finds. */
export default function Sales() {
  const { today } = useMe().provider.calendar;
  const [{ day, find }, setFilters] = useFilters(["day", "find"]);
  const setDay = useCallback((next: Record<string, string>) => setFilters({ ...next, find: "" }), [setFilters]);
  const [asking, setAsking] = useState<Asked>();
  const sales = usePages("GET /sales", find === "" ? { day: day || today } : { find });
  return (
    <>
      <PageHead title={t.pages.sales} />
      <OwnShift />
      <Card title={t.sales}>
        <search className="filters">
          <TextFilter
            name="day"
            label={t.day}
            type="date"
            max={today}
            value={find === "" ? day || today : ""}
            onApply={setDay}
          />
          <TextFilter name="find" label={t.search} placeholder={t.searchHint} value={find} onApply={setFilters} />
        </search>
        <PagedTable
          label={t.sales}
          columns={[...COLUMNS, { ...ACTIONS, cell: (sale) => <Actions of={sale} onAsk={setAsking} /> }]}
          pages={sales}
          rowKey={({ txnId }) => txnId}
          empty={<EmptyState title={t.noSales}>{t.noSalesText}</EmptyState>}
        />
      </Card>
      <OwnShifts />
      {asking !== undefined && <asking.Dialog sale={asking.sale} onClose={() => setAsking(undefined)} />}
    </>
  );
}

const TONES: Readonly<Record<Sale["state"], Tone>> = {
  sold: "success",
  reversal_requested: "warning",
  reversal_refused: "danger",
  reversed: "neutral",
};

const COLUMNS: readonly Column<Sale>[] = [
  { header: t.time, cell: ({ txnDate }) => <Time of={txnDate} /> },
  {
    header: t.number,
    cell: ({ txnId, udf1 }) => (
      <Link href={`/sales/${encodeURIComponent(txnId)}`} title={txnId}>
        {udf1 ?? `…${txnId.slice(-6)}`}
      </Link>
    ),
  },
  {
    header: t.customer,
    place: "name",
    cell: ({ cuid, customer }) => <CustomerName cuid={cuid} customer={customer} />,
  },
  { header: t.connection, cell: (sale) => connectionName(sale) },
  { header: t.bouquet, isWide: true, cell: ({ bouquetName, bouquetId }) => bouquetName ?? bouquetId },
  { header: t.amount, isAmount: true, cell: ({ amount }) => <Amount of={amount} bare /> },
  { header: t.method, cell: ({ method }) => t.methods[method] },
  { header: t.seller, cell: ({ seller }) => seller },
  {
    header: t.state,
    cell: ({ state, request, cashReturned }) => (
      <span className="badges" title={request?.reason}>
        <Badge tone={TONES[state]}>{t.states[state]}</Badge>
        {cashReturned !== null && (
          <Badge tone={cashReturned ? "neutral" : "warning"}>{cashReturned ? t.cashReturned : t.cashDue}</Badge>
        )}
        {state === "reversal_refused" && request?.refusal}
      </span>
    ),
  },
];

const ACTIONS = { header: texts.common.actions, hideHeader: true } as const;

/** The actions that the state of a sale allows. */
function Actions({ of: sale, onAsk }: { of: Sale; onAsk: (asked: Asked) => void }) {
  const { txnId, state, cashReturned } = sale;
  const mayAsk = state === "sold" || state === "reversal_refused";
  if (!mayAsk && cashReturned !== false) return null;
  return (
    <Menu label={texts.common.rowActions(txnId)} quiet trigger={<Icon name="more" />}>
      {mayAsk && <MenuItem onSelect={() => onAsk({ Dialog: ReversalDialog, sale })}>{t.askReversal}</MenuItem>}
      {cashReturned === false && (
        <MenuItem onSelect={() => onAsk({ Dialog: ReturnDialog, sale })}>{t.recordReturn}</MenuItem>
      )}
    </Menu>
  );
}

interface DialogProps {
  readonly sale: Sale;
  readonly onClose: () => void;
}

interface Asked {
  readonly Dialog: typeof ReversalDialog;
  readonly sale: Sale;
}

function ReturnDialog({ sale: { txnId, amount }, onClose }: DialogProps) {
  const send = useSend("POST /sales/:txnId/cash-returned");
  const { currency } = useMe().provider;
  return (
    <ActionDialog
      title={t.returnTitle}
      description={t.returnText(formatMoney(amount, currency))}
      submit={t.returnSubmit}
      onSubmit={async () => {
        await send.mutateAsync({ txnId });
        return { toast: t.returned };
      }}
      onClose={onClose}
    />
  );
}

function ReversalDialog({ sale, onClose }: DialogProps) {
  const send = useSend("POST /sales/:txnId/reversal-request");
  return (
    <ActionDialog
      title={t.askReversalTitle}
      description={t.askReversalText(connectionName(sale))}
      submit={t.askReversalSubmit}
      onSubmit={async (values) => {
        await send.mutateAsync({ txnId: sale.txnId, reason: values.text("reason") });
        return { toast: t.asked };
      }}
      onClose={onClose}
    >
      <Field name="reason" label={texts.common.reason} hint={t.reasonHint}>
        <TextInput required maxLength={200} />
      </Field>
    </ActionDialog>
  );
}

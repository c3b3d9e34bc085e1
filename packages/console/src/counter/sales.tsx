import { useMemo, useState } from "react";
import { useMe } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { DayInput, TextInput } from "../components/controls.tsx";
import { type Column, DataTable } from "../components/data-table.tsx";
import { ActionDialog, Dialog } from "../components/dialog.tsx";
import { Amount, Badge, Card, connectionName, Grid, Stat, Time } from "../components/display.tsx";
import { Field } from "../components/form.tsx";
import { Menu, MenuItem } from "../components/menu.tsx";
import { PageHead } from "../components/page-head.tsx";
import { EmptyState, Loaded, type Tone } from "../components/states.tsx";
import { useChange, useCounter } from "./api.ts";
import type { Sale, Shift, ShiftSums } from "./counter-api.d.ts";
import { Receipt, useMoney } from "./receipt.tsx";
import { texts } from "./texts.ts";

const t = texts.sales;

/** The shift, and the sales of a day. */
export default function Sales() {
  const { today } = useMe().provider.calendar;
  const [day, setDay] = useState<string>(today);
  const [find, setFind] = useState("");
  const sales = useCounter("GET /sales", find.trim() === "" ? { day, limit: 500 } : { find: find.trim(), limit: 50 });
  const [asking, setAsking] = useState<{ what: keyof typeof DIALOGS; sale: Sale }>();
  const columns = useMemo(() => columnsFor((what, sale) => setAsking({ what, sale })), []);
  const Asked = asking && DIALOGS[asking.what];
  return (
    <>
      <PageHead title={texts.pages.sales} />
      <ShiftCard />
      <Card title={t.list}>
        <div className="row">
          <Field name="day" label={t.day}>
            <DayInput value={day} onChange={({ target }) => setDay(target.value || today)} />
          </Field>
          <Field name="find" label={t.find}>
            <TextInput
              value={find}
              maxLength={64}
              autoComplete="off"
              onChange={({ target }) => setFind(target.value)}
            />
          </Field>
        </div>
        <Loaded of={sales}>
          {({ items }) => (
            <DataTable
              label={t.list}
              columns={columns}
              rows={items}
              rowKey={({ txnId }) => txnId}
              empty={<EmptyState title={t.none} />}
            />
          )}
        </Loaded>
      </Card>
      <Shifts />
      {asking && Asked && <Asked sale={asking.sale} onClose={() => setAsking(undefined)} />}
    </>
  );
}

const TONES: Readonly<Record<Sale["state"], Tone>> = {
  sold: "success",
  reversal_requested: "warning",
  reversal_refused: "danger",
  reversed: "neutral",
};

function columnsFor(onAsk: (what: keyof typeof DIALOGS, sale: Sale) => void): readonly Column<Sale>[] {
  return [
    {
      header: t.customer,
      cell: ({ customer, cuid }) => `${customer === null ? "" : `${customer.firstName} ${customer.lastName} `}${cuid}`,
    },
    { header: t.time, cell: ({ txnDate }) => <Time of={txnDate} /> },
    { header: t.sale, isWide: true, cell: (sale) => `${connectionName(sale)}, ${sale.bouquetName ?? sale.bouquetId}` },
    { header: t.seller, cell: ({ seller, method }) => `${seller}, ${texts.sell.methods[method]}` },
    {
      header: t.amount,
      isNumber: true,
      isAmount: true,
      place: "amount",
      cell: ({ amount }) => <Amount of={amount} bare />,
    },
    {
      header: t.state,
      cell: ({ state, request, cashReturned }) => (
        <>
          <Badge tone={TONES[state]}>{t.states[state]}</Badge>{" "}
          {cashReturned !== null && (cashReturned ? t.cashReturned : t.cashOpen)}
          {state === "reversal_refused" && request?.refusal}
        </>
      ),
    },
    {
      header: texts.pages.sales,
      hideHeader: true,
      cell: (sale) => (
        <Menu label={`${sale.txnId.slice(-6)}`} quiet trigger="⋯">
          <MenuItem onSelect={() => onAsk("receipt", sale)}>{t.showReceipt}</MenuItem>
          {(sale.state === "sold" || sale.state === "reversal_refused") && (
            <MenuItem onSelect={() => onAsk("reversal", sale)}>{t.askReversal}</MenuItem>
          )}
          {sale.cashReturned === false && <MenuItem onSelect={() => onAsk("cash", sale)}>{t.returnCash}</MenuItem>}
        </Menu>
      ),
    },
  ];
}

interface SaleDialogProps {
  readonly sale: Sale;
  readonly onClose: () => void;
}

function ShowReceipt({ sale: { txnId }, onClose }: SaleDialogProps) {
  const receipt = useCounter("GET /sales/:txnId/receipt", { txnId });
  return (
    <Dialog title={texts.receipt.title} onClose={onClose}>
      <Loaded of={receipt}>{(data) => <Receipt of={data} />}</Loaded>
      <Button kind="primary" onClick={() => window.print()}>
        {texts.sell.print}
      </Button>
    </Dialog>
  );
}

function AskReversal({ sale: { txnId }, onClose }: SaleDialogProps) {
  const send = useChange("POST /sales/:txnId/reversal-request");
  return (
    <ActionDialog
      title={t.askReversal}
      description={t.askText}
      submit={t.askReversal}
      onSubmit={async (values) => {
        await send.mutateAsync({ txnId, reason: values.text("reason") });
        return { toast: t.asked };
      }}
      onClose={onClose}
    >
      <Field name="reason" label={t.reason}>
        <TextInput required maxLength={200} />
      </Field>
    </ActionDialog>
  );
}

function ReturnCash({ sale: { txnId, amount }, onClose }: SaleDialogProps) {
  const send = useChange("POST /sales/:txnId/cash-returned");
  return (
    <ActionDialog
      title={t.returnCash}
      description={t.returnText}
      submit={t.returnCash}
      onSubmit={async () => {
        await send.mutateAsync({ txnId });
        return { toast: t.returnDone };
      }}
      onClose={onClose}
    >
      <p className="counter-price">
        <Amount of={amount} />
      </p>
    </ActionDialog>
  );
}

const DIALOGS = { receipt: ShowReceipt, reversal: AskReversal, cash: ReturnCash };

function ShiftCard() {
  const shift = useCounter("GET /shift", {});
  const [asking, setAsking] = useState<"open" | "close">();
  const close = () => setAsking(undefined);
  return (
    <Loaded of={shift}>
      {({ shift: open }) => (
        <Card
          title={t.shift}
          actions={
            <Button kind="primary" onClick={() => setAsking(open === null ? "open" : "close")}>
              {open === null ? t.open : t.close}
            </Button>
          }
        >
          {open === null ? <p className="muted">{t.closed}</p> : <Figures of={open} />}
          {asking === "open" && <OpenShift onClose={close} />}
          {asking === "close" && <CloseShift onClose={close} />}
        </Card>
      )}
    </Loaded>
  );
}

function Figures({ of }: { of: ShiftSums }) {
  const sums = ["cash", "card", "wallet", "returned"] as const;
  return (
    <Grid>
      <Stat label={t.expected} value={<Amount of={of.expected} />} note={<Time of={of.openedAt} />} />
      {sums.map((name) => (
        <Stat key={name} label={t[name]} value={<Amount of={of[name].amount} />} note={t.times(of[name].count)} />
      ))}
    </Grid>
  );
}

function OpenShift({ onClose }: { onClose: () => void }) {
  const send = useChange("POST /shift");
  return (
    <ActionDialog
      title={t.open}
      submit={t.open}
      onSubmit={async (values) => {
        await send.mutateAsync({ opening: values.optional("opening") });
        return {};
      }}
      onClose={onClose}
    >
      <Field name="opening" label={t.opening}>
        <TextInput inputMode="decimal" autoComplete="off" placeholder="0" />
      </Field>
    </ActionDialog>
  );
}

function CloseShift({ onClose }: { onClose: () => void }) {
  const send = useChange("POST /shift/close");
  const money = useMoney();
  return (
    <ActionDialog
      title={t.close}
      description={t.closeText}
      submit={t.close}
      onSubmit={async (values) => {
        const closed = await send.mutateAsync({ counted: values.text("counted"), note: values.optional("note") });
        return { toast: t.closedToast(money(closed.difference ?? closed.expected)) };
      }}
      onClose={onClose}
    >
      <Field name="counted" label={t.counted}>
        <TextInput required inputMode="decimal" autoComplete="off" />
      </Field>
      <Field name="note" label={t.note}>
        <TextInput maxLength={200} />
      </Field>
    </ActionDialog>
  );
}

const SHIFT_COLUMNS: readonly Column<Shift>[] = [
  { header: t.opened, cell: ({ openedAt }) => <Time of={openedAt} /> },
  { header: t.closedAt, cell: ({ closedAt }) => <Time of={closedAt} /> },
  { header: t.expected, isNumber: true, isAmount: true, cell: ({ expected }) => <Amount of={expected} bare /> },
  { header: t.counted, isNumber: true, isAmount: true, cell: ({ counted }) => <Amount of={counted} bare /> },
  {
    header: t.difference,
    isNumber: true,
    isAmount: true,
    place: "amount",
    cell: ({ difference }) => <Amount of={difference} bare />,
  },
  { header: t.note, isWide: true, cell: ({ note }) => note ?? "" },
];

function Shifts() {
  const shifts = useCounter("GET /shifts", { limit: 20 });
  return (
    <Loaded of={shifts}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={t.shifts}>
            <DataTable label={t.shifts} columns={SHIFT_COLUMNS} rows={items} rowKey={({ id }) => String(id)} />
          </Card>
        )
      }
    </Loaded>
  );
}

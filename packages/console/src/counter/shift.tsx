import { useState } from "react";
import { useInCurrency } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { TextInput } from "../components/controls.tsx";
import { type Column, PagedTable } from "../components/data-table.tsx";
import { ActionDialog } from "../components/dialog.tsx";
import { Amount, Card, Fact, Grid, KeyValue, Stat, Time } from "../components/display.tsx";
import { Field, Form } from "../components/form.tsx";
import { EmptyState, Loaded, Note, Result } from "../components/states.tsx";
import { formatCount } from "../format.ts";
import { useApi, usePages, useSend } from "./api.ts";
import type { Shift, ShiftSums } from "./counter-api.d.ts";
import { counter as t } from "./texts.ts";

/** The own shift: open it, see its figures, close it. */
export function OwnShift() {
  const shift = useApi("GET /shift", {});
  const [isClosing, setClosing] = useState(false);
  const [closed, setClosed] = useState<ShiftSums>();
  return (
    <Card
      title={t.shift}
      actions={shift.data?.shift && <Button onClick={() => setClosing(true)}>{t.closeShift}</Button>}
    >
      {closed !== undefined && (
        <Result key={closed.id}>
          <Note tone="success">
            <p>{t.closed}</p>
            <KeyValue>
              <Fact label={t.expected} value={<Amount of={closed.expected} />} />
              <Fact label={t.counted} value={<Amount of={closed.counted} />} />
              <Fact label={t.difference} value={<Amount of={closed.difference} />} />
            </KeyValue>
          </Note>
        </Result>
      )}
      <Loaded of={shift}>{({ shift: open }) => (open === null ? <OpenForm /> : <Figures of={open} />)}</Loaded>
      {isClosing && <CloseDialog onClosed={setClosed} onClose={() => setClosing(false)} />}
    </Card>
  );
}

function OpenForm() {
  const send = useSend("POST /shift");
  const inCurrency = useInCurrency();
  return (
    <Form submit={t.openShift} onSubmit={(values) => send.mutateAsync({ opening: values.optional("opening") })}>
      <p className="muted">{t.noShift}</p>
      <Field name="opening" label={inCurrency(t.opening)}>
        <TextInput inputMode="decimal" maxLength={40} placeholder="0" />
      </Field>
    </Form>
  );
}

const SUMS = Object.entries(t.figures) as [keyof typeof t.figures, string][];

function Figures({ of }: { of: ShiftSums }) {
  return (
    <>
      <p className="muted">
        {t.since} <Time of={of.openedAt} />
      </p>
      <Grid>
        <Stat label={t.expected} value={<Amount of={of.expected} />} />
        <Stat label={t.opening} value={<Amount of={of.opening} />} />
        {SUMS.map(([name, label]) => (
          <Stat key={name} label={`${label}: ${formatCount(of[name].count)}`} value={<Amount of={of[name].amount} />} />
        ))}
      </Grid>
    </>
  );
}

function CloseDialog({ onClosed, onClose }: { onClosed: (shift: ShiftSums) => void; onClose: () => void }) {
  const send = useSend("POST /shift/close");
  const inCurrency = useInCurrency();
  return (
    <ActionDialog
      title={t.closeTitle}
      description={t.closeText}
      submit={t.closeSubmit}
      onSubmit={async (values) => {
        onClosed(await send.mutateAsync({ counted: values.text("counted"), note: values.optional("note") }));
        return {};
      }}
      onClose={onClose}
    >
      <Field name="counted" label={inCurrency(t.counted)}>
        <TextInput required inputMode="decimal" maxLength={40} />
      </Field>
      <Field name="note" label={t.noteLabel}>
        <TextInput maxLength={200} />
      </Field>
    </ActionDialog>
  );
}

/** The own shifts, newest first. */
export function OwnShifts() {
  return (
    <Card title={t.shifts}>
      <PagedTable
        label={t.shifts}
        columns={COLUMNS}
        pages={usePages("GET /shifts", {})}
        rowKey={({ id }) => String(id)}
        empty={<EmptyState title={t.noShifts} />}
      />
    </Card>
  );
}

const COLUMNS: readonly Column<Shift>[] = [
  { header: t.opened, cell: ({ openedAt }) => <Time of={openedAt} /> },
  { header: t.closedAt, cell: ({ closedAt }) => <Time of={closedAt} none={t.notYet} /> },
  { header: t.opening, isAmount: true, place: "hidden", cell: ({ opening }) => <Amount of={opening} bare /> },
  { header: t.expected, isAmount: true, cell: ({ expected }) => <Amount of={expected} bare /> },
  { header: t.counted, isAmount: true, cell: ({ counted }) => <Amount of={counted} bare /> },
  { header: t.difference, isAmount: true, place: "amount", cell: ({ difference }) => <Amount of={difference} bare /> },
  { header: t.note, isWide: true, cell: ({ note }) => note },
];

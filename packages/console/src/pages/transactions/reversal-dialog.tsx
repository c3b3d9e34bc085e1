import type { Transaction } from "../../api/staff-api.d.ts";
import { useCorrection } from "../../api/use-correction.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Amount, KeyValue, RunChange, Time } from "../../components/display.tsx";
import { Previewed } from "../../components/previewed.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import { minuteOf } from "../customers/ledger-words.ts";

const t = texts.transactions;

interface ReversalDialogProps {
  readonly topUp: ReversibleTopUp;
  readonly onClose: () => void;
}

export interface ReversibleTopUp extends Pick<Transaction, "txnId" | "service" | "reqId"> {
  /** Its wall time. */
  readonly wall: string;
  /** Null where its record is missing. */
  readonly partner: string | null;
  readonly amount: string | null;
}

/** Shows what the reversal of a top-up would do, asks for a reason, and does it. */
export function ReversalDialog({ topUp, onClose }: ReversalDialogProps) {
  const toast = useToast();
  const { wall, partner, amount } = topUp;
  const reversal = useCorrection("POST /transactions/:id/reversal", { id: topUp.txnId });
  const name = connectionName(topUp);
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.reverseTitle}
      description={t.reverseText}
      confirm={t.reverse}
      danger
      reason
      disabled={!reversal.isReady}
      onConfirm={async (reason) => {
        const { after } = await reversal.commit(reason);
        toast(after === null ? t.doneAll(name) : t.done(name, minuteOf(after.end)));
      }}
    >
      <KeyValue
        items={[
          [t.at, <Time key="at" of={wall} />],
          [t.partner, partner],
          [t.amount, <Amount key="amount" of={amount} />],
          [t.connection, name],
        ]}
      />
      <Previewed of={reversal}>{({ before, after }) => <RunChange before={before} after={after} />}</Previewed>
    </ConfirmDialog>
  );
}

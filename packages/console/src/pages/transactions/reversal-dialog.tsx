import type { CorrectionEffect, Transaction } from "../../api/types.ts";
import { useCorrection } from "../../api/use-correction.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { RunChange } from "../../components/display.tsx";
import { Previewed } from "../../components/previewed.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import { minuteOf } from "../customers/ledger-words.ts";

const t = texts.transactions;

interface ReversalDialogProps {
  /** A txnId. */
  readonly id: string;
  /** Whose connection. */
  readonly of: Pick<Transaction, "service" | "reqId">;
  readonly onClose: () => void;
}

/** Shows what the reversal of a top-up would do, asks for a reason, and does it. */
export function ReversalDialog({ id, of, onClose }: ReversalDialogProps) {
  const toast = useToast();
  const reversal = useCorrection<CorrectionEffect>(`/transactions/${encodeURIComponent(id)}/reversal`, NOTHING_MORE);
  const name = connectionName(of);
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.reverseTitle}
      description={`${name}. ${t.reverseText}`}
      confirm={t.reverse}
      danger
      reason
      disabled={!reversal.isReady}
      onConfirm={async (reason) => {
        const { after } = await reversal.commit(reason);
        toast(after === null ? t.doneAll(name) : t.done(name, minuteOf(after.end)));
      }}
    >
      <Previewed of={reversal}>{({ before, after }) => <RunChange before={before} after={after} />}</Previewed>
    </ConfirmDialog>
  );
}

const NOTHING_MORE = {};

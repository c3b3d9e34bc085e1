import { useState } from "react";
import type { Connection } from "../../api/staff-api.d.ts";
import { useCorrection } from "../../api/use-correction.ts";
import { Select } from "../../components/controls.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { RunChange } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { Previewed } from "../../components/previewed.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "./connection-badge.tsx";
import { minuteOf } from "./ledger-words.ts";

const t = texts.customers;

interface GoodwillReversalDialogProps {
  readonly cuid: string;
  readonly connection: Connection;
  /** Plans with goodwill, each with its last goodwill entry. */
  readonly given: readonly { readonly plan: string; readonly seq: number }[];
  readonly onClose: () => void;
}

/** Takes back the goodwill that was given last. */
export function GoodwillReversalDialog({ cuid, connection, given, onClose }: GoodwillReversalDialogProps) {
  const { service, reqId } = connection;
  const environment = useEnvironment();
  const toast = useToast();
  const [plan, setPlan] = useState(given[0]?.plan ?? "");
  const seq = given.find((each) => each.plan === plan)?.seq;
  const reversal = useCorrection("POST /customers/:cuid/goodwill-reversal", {
    environment,
    cuid,
    service,
    reqId,
    plan,
    seq,
  });
  const name = connectionName(connection);
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.of(t.takeBack, name)}
      description={t.takeBackText}
      confirm={t.takeBack}
      danger
      reason
      disabled={!reversal.isReady}
      onConfirm={async (reason) => {
        const { after } = await reversal.commit(reason);
        toast(after === null ? t.takenBackAll(name) : t.takenBack(name, minuteOf(after.end)));
      }}
    >
      {given.length > 1 && (
        <Field name="plan" label={t.plan}>
          <Select
            options={given.map((each) => [each.plan, each.plan] as const)}
            value={plan}
            onChange={({ target }) => setPlan(target.value)}
          />
        </Field>
      )}
      <Previewed of={reversal}>{({ before, after }) => <RunChange before={before} after={after} />}</Previewed>
    </ConfirmDialog>
  );
}

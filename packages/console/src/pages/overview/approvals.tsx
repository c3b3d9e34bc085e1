import { useState } from "react";
import { Link } from "wouter";
import { useLive, useSend } from "../../api/hooks.ts";
import { useMay, useMe } from "../../api/session.tsx";
import type { Approval } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Field } from "../../components/form.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { formatAge, formatMoney } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.approvals;

/** Changes that wait for a second person. */
export function Approvals() {
  const approvals = useLive("GET /approvals", { environment: useEnvironment() }, { seconds: 30 });
  return (
    <Loaded of={approvals}>
      {({ items }) =>
        items
          .filter(({ state }) => state === "waiting")
          .map((approval) => <WaitingApproval key={approval.id} approval={approval} isLinked />)
      }
    </Loaded>
  );
}

/** A change that waits, and what this person can do about it. */
export function WaitingApproval({ approval, isLinked = false }: { approval: Approval; isLinked?: boolean }) {
  const { id, subject, cuid, amount, reason, requestedBy, requestedAt } = approval;
  const [deciding, setDeciding] = useState<"confirm" | "refuse">();
  const { name, provider } = useMe();
  const mayCorrect = useMay("correct");
  const confirm = useSend("POST /approvals/:id/confirm");
  const refuse = useSend("POST /approvals/:id/refuse");
  const isOwn = requestedBy === name;
  const close = () => setDeciding(undefined);
  const what = t.waits(requestedBy, formatAge(requestedAt), formatMoney(amount ?? "", provider.currency), cuid ?? "");
  return (
    <Note tone="warning">
      <p>
        {what} {reason} {isLinked && <Link href={transactionHref({ txnId: subject })}>{t.see}</Link>}
      </p>
      {isOwn && <p>{t.own}</p>}
      {mayCorrect && (
        <p className="row">
          {!isOwn && (
            <Button kind="primary" onClick={() => setDeciding("confirm")}>
              {t.confirm}
            </Button>
          )}
          <Button onClick={() => setDeciding("refuse")}>{isOwn ? t.withdraw : t.refuse}</Button>
        </p>
      )}
      {deciding === "confirm" && (
        <ActionDialog
          title={t.confirmTitle}
          description={texts.transactions.reverseText}
          submit={t.confirm}
          danger
          onSubmit={async () => {
            await confirm.mutateAsync({ id });
            return { toast: t.confirmed };
          }}
          onClose={close}
        >
          <p>
            {what} {reason}
          </p>
        </ActionDialog>
      )}
      {deciding === "refuse" && (
        <ActionDialog
          title={isOwn ? t.withdrawTitle : t.refuseTitle}
          description={t.refuseText}
          submit={isOwn ? t.withdraw : t.refuse}
          onSubmit={async (values) => {
            await refuse.mutateAsync({ id, reason: values.text("reason") });
            return { toast: t.refused };
          }}
          onClose={close}
        >
          <Field name="reason" label={texts.common.reason} hint={texts.common.reasonHint}>
            <TextInput required maxLength={200} />
          </Field>
        </ActionDialog>
      )}
    </Note>
  );
}

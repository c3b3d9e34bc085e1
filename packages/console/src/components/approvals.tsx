import { useState } from "react";
import { Link } from "wouter";
import { useLive, useSend } from "../api/hooks.ts";
import type { Environment } from "../api/request.ts";
import { useMe } from "../api/session.tsx";
import type { Approval, BulkRun } from "../api/staff-api.d.ts";
import { countOf, formatAge, formatCount, formatMoney } from "../format.ts";
import { partnerHref, transactionHref } from "../links.ts";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { ActionDialog, ReasonField } from "./dialog.tsx";
import { Loaded, Note } from "./states.tsx";

const t = texts.approvals;

interface ApprovalsProps {
  readonly environment: Environment;
  /** Only this bulk change. */
  readonly bulkId?: number;
}

/** Changes that wait for a second person. */
export function Approvals({ environment, bulkId }: ApprovalsProps) {
  const approvals = useLive("GET /approvals", { environment }, { seconds: 30 });
  const isAsked = ({ kind, subject }: Approval) => kind === "bulk" && subject === String(bulkId);
  return (
    <Loaded of={approvals}>
      {({ items }) =>
        items
          .filter((approval) => approval.state === "waiting" && (bulkId === undefined || isAsked(approval)))
          .map((approval) => <WaitingApproval key={approval.id} approval={approval} isLinked={bulkId === undefined} />)
      }
    </Loaded>
  );
}

/** A change that waits, and what this person can do about it. */
export function WaitingApproval({ approval, isLinked = false }: { approval: Approval; isLinked?: boolean }) {
  const { id, kind, reason, requestedBy, requestedAt, own, mayDecide } = approval;
  const [deciding, setDeciding] = useState<"confirm" | "refuse">();
  const { name, provider } = useMe();
  const confirm = useSend("POST /approvals/:id/confirm");
  const refuse = useSend("POST /approvals/:id/refuse");
  const isOwn = requestedBy === name;
  const close = () => setDeciding(undefined);
  const words = wordsOf(approval, provider.currency);
  return (
    <Note tone="warning">
      <p>
        {t.waits(requestedBy, formatAge(requestedAt), words, reason)}{" "}
        {isLinked && <Link href={hrefOf(approval)}>{t.see}</Link>}
      </p>
      {own && <p>{isOwn ? t.own : t.onePerson(requestedBy)}</p>}
      {mayDecide && (
        <p className="row">
          {!own && (
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
          description={t.confirmTexts[kind]}
          submit={t.confirm}
          danger
          onSubmit={async () => {
            await confirm.mutateAsync({ id });
            return { toast: t.confirmed };
          }}
          onClose={close}
        >
          <p>{words}</p>
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
          <ReasonField required />
        </ActionDialog>
      )}
    </Note>
  );
}

function wordsOf({ topUp, bulk, account }: Approval, currency: string | null): string {
  if (topUp !== null) return t.reversal(formatMoney(topUp.amount, currency), topUp.cuid);
  if (bulk !== null) return bulkWords(bulk);
  const { partner = "", entry = null, amount = null, reference = null } = account ?? {};
  const money = amount === null ? texts.common.none : formatMoney(amount, currency);
  return entry === null
    ? t.creditLimit(partner, money)
    : t.entry(texts.partnerAccounts.lines[entry], money, partner, reference ?? "");
}

export function bulkWords({
  action,
  days,
  count,
  startsAgain,
}: Pick<BulkRun, "action" | "days" | "count" | "startsAgain">) {
  const order = texts.bulk.orders[action](countOf(days ?? 0, "day"), countOf(count, "connection"));
  return startsAgain === 0 ? order : texts.bulk.withAgain(order, formatCount(startsAgain));
}

function hrefOf({ kind, subject, account }: Approval): string {
  if (account !== null) return partnerHref({ name: account.partner });
  return kind === "bulk" ? `/bulk/${subject}` : transactionHref({ txnId: subject });
}

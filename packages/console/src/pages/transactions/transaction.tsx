import { useState } from "react";
import { Link } from "wouter";
import { useApi, useLive } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Approval, TransactionDetail } from "../../api/staff-api.d.ts";
import { WaitingApproval } from "../../components/approvals.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Amount, Card, Code, connectionName, Fact, KeyValue, RunChange, Tax, Time } from "../../components/display.tsx";
import { OtherEnvironment } from "../../components/environment.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { customerHref, partnerHref } from "../../links.ts";
import type { PageProps } from "../../page-props.ts";
import { texts } from "../../texts/index.ts";
import { ReversalDialog, TransactionBadge } from "./top-up.tsx";

const t = texts.transactions;

/** The partner's own texts, by their names on the wire. */
const UDFS = ["udf1", "udf2"] as const;

export default function Transaction({ params: { id = "" } }: PageProps) {
  const transaction = useApi("GET /transactions/:id", { id });
  const mayCorrect = useMay("correct");
  const [isReversing, setReversing] = useState(false);
  const { data } = transaction;
  const isWaiting = data?.approval?.state === "waiting";
  const isGone = data === undefined && transaction.error?.code === "not_found";
  return (
    <>
      <PageHead
        title={t.topUp}
        lead={<Code>{data?.txnId ?? id}</Code>}
        up={{ href: "/transactions", title: texts.shell.pages.transactions }}
        actions={
          mayCorrect &&
          data?.status === "success" &&
          !isWaiting && (
            <Button kind="danger" onClick={() => setReversing(true)}>
              {t.reverse}
            </Button>
          )
        }
      />
      {isGone ? (
        <EmptyState title={t.goneTitle} action={<LinkButton href="/transactions">{t.toList}</LinkButton>}>
          {t.goneText}
        </EmptyState>
      ) : (
        <Loaded of={transaction}>
          {(found) => (
            <>
              <OtherEnvironment of={found.environment} />
              <Request id={id} of={found} />
              <Fields transaction={found} />
              <Effect transaction={found} />
              {found.reversal !== null && <Reversal reversal={found.reversal} />}
              {isReversing && (
                <ReversalDialog topUp={{ ...found, wall: found.txnDate }} onClose={() => setReversing(false)} />
              )}
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

/** The request to reverse a top-up, while it waits or after a refusal. */
function Request({ id, of: { status, approval } }: { id: string; of: TransactionDetail }) {
  if (approval?.state === "waiting") return <Waiting id={id} approval={approval} />;
  if (approval?.state !== "refused" || status === "reversed") return null;
  return <Note>{texts.approvals.wasRefused(approval.decidedBy ?? "", approval.refusal ?? "")}</Note>;
}

/** Its decision changes the transaction. */
function Waiting({ id, approval }: { id: string; approval: Approval }) {
  useLive("GET /transactions/:id", { id });
  return <WaitingApproval approval={approval} />;
}

function Fields({ transaction }: { transaction: TransactionDetail }) {
  const { txnId, checkoutId, status, partner, amount, commission, txnDate, customer, cuid } = transaction;
  const { bouquetId, bouquetName, plan } = transaction;
  const name = customer === null ? "" : `${customer.firstName} ${customer.lastName}`.trim();
  return (
    <Card>
      <KeyValue>
        <Fact label={t.status} value={<TransactionBadge status={status} />} />
        <Fact label={t.amount} value={<Amount of={amount} />} />
        <Fact label={t.commission} value={<Amount of={commission} />} />
        <Tax of={transaction} as={Fact} />
        <Fact label={t.at} value={<Time of={txnDate} exact />} />
        <Fact label={t.partner} value={<Link href={partnerHref({ name: partner })}>{partner}</Link>} />
        <Fact
          label={t.customer}
          value={<Link href={customerHref(transaction)}>{name === "" ? cuid : `${name} (${cuid})`}</Link>}
        />
        <Fact label={t.mobile} value={customer?.mobile ?? null} />
        <Fact label={t.connection} value={connectionName(transaction)} />
        <Fact label={t.bouquet} value={bouquetName === null ? bouquetId : `${bouquetName} (${bouquetId})`} />
        <Fact label={t.plan} value={plan} />
        {UDFS.map((name) => (
          <Fact key={name} label={name} value={transaction[name]} />
        ))}
        <Fact label={t.txnId} value={<Code>{txnId}</Code>} />
        <Fact label={t.checkoutId} value={<Code>{checkoutId}</Code>} wide />
      </KeyValue>
    </Card>
  );
}

function Effect({ transaction: { before, after } }: { transaction: TransactionDetail }) {
  return (
    <Card title={t.effect}>
      {before === null && after === null ? (
        <p className="muted">{t.effectUnknown}</p>
      ) : (
        <RunChange before={before} after={after} />
      )}
    </Card>
  );
}

function Reversal({ reversal }: { reversal: NonNullable<TransactionDetail["reversal"]> }) {
  const { wall, author, reason, before, after } = reversal;
  return (
    <Card title={t.reversal}>
      <KeyValue>
        <Fact label={t.reversedAt} value={<Time of={wall} />} />
        <Fact label={t.author} value={author} />
        <Fact label={t.reason} value={reason} />
      </KeyValue>
      {(before !== null || after !== null) && <RunChange before={before} after={after} />}
    </Card>
  );
}

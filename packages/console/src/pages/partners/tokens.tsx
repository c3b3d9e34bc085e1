import { useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Environment } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { AccessToken, IssuedToken, RotatedToken } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { DayInput, Select, TextInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Badge, Card, Code, Fact, KeyValue, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partners;

type Open = { readonly action: "issue" } | { readonly action: "rotate" | "revoke"; readonly token: AccessToken };

/** A partner's access tokens. Expired and revoked ones are hidden at first. */
export function Tokens({ partner }: { partner: string }) {
  const tokens = useApi("GET /partners/:partner/tokens", { partner });
  const mayChange = useMay("administer");
  const [showsOld, setShowsOld] = useState(false);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <Card
      title={t.tokens}
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setOpen({ action: "issue" })}>
            {t.issue}
          </Button>
        )
      }
    >
      <Loaded of={tokens}>
        {({ items }) => {
          const hidden = showsOld ? [] : items.filter(({ state }) => state !== "valid");
          const shown = items.filter((token) => !hidden.includes(token));
          return (
            <>
              {hidden.length > 0 && (
                <div className="row">
                  <Button kind="quiet" onClick={() => setShowsOld(true)}>
                    {t.showOld(hidden.length)}
                  </Button>
                </div>
              )}
              <DataTable
                label={t.tokens}
                columns={mayChange ? [...COLUMNS, actions(setOpen)] : COLUMNS}
                rows={shown}
                rowKey={({ id }) => id}
                empty={<EmptyState title={t.noTokens}>{t.noTokensHint}</EmptyState>}
              />
            </>
          );
        }}
      </Loaded>
      {open?.action === "issue" && <IssueToken partner={partner} onClose={close} />}
      {open?.action === "rotate" && <RotateToken partner={partner} token={open.token} onClose={close} />}
      {open?.action === "revoke" && <RevokeToken token={open.token} onClose={close} />}
    </Card>
  );
}

const TONES = { valid: "success", expired: "neutral", revoked: "danger" } as const;

const COLUMNS: readonly Column<AccessToken>[] = [
  { header: t.token, cell: ({ id }) => <Code>{id}</Code> },
  { header: t.environment, cell: ({ environment }) => texts.common.environments[environment] },
  { header: t.state, cell: ({ state }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
  { header: t.issued, cell: ({ createdAt }) => <Time of={createdAt} exact /> },
  {
    header: t.ends,
    cell: ({ expiresAt, revokedAt }) => {
      const end = revokedAt ?? expiresAt;
      return end === null ? texts.common.noEnd : <Time of={end} exact />;
    },
  },
  { header: t.lastUse, cell: ({ lastUsedAt }) => <Time of={lastUsedAt} age none={t.never} /> },
];

function actions(open: (next: Open) => void): Column<AccessToken> {
  return {
    header: texts.common.actions,
    hideHeader: true,
    cell: (token) =>
      token.state !== "valid" ? (
        token.replacedBy !== null && (
          <span className="muted">
            {t.replacedBy} <Code>{token.replacedBy}</Code>
          </span>
        )
      ) : (
        <span className="row">
          {token.replacedBy === null && (
            <Button aria-label={`${t.rotate} ${token.id}`} onClick={() => open({ action: "rotate", token })}>
              {t.rotate}
            </Button>
          )}
          <Button aria-label={`${t.revoke} ${token.id}`} onClick={() => open({ action: "revoke", token })}>
            {t.revoke}
          </Button>
        </span>
      ),
  };
}

function IssueToken({ partner, onClose }: { partner: string; onClose: () => void }) {
  const [environment, setEnvironment] = useState<Environment>(useEnvironment());
  const send = useSend("POST /partners/:partner/tokens");
  return (
    <ActionDialog
      title={t.issue}
      description={t.issueHint}
      submit={t.issueConfirm}
      onSubmit={async (values) => {
        const expiresAt = values.optional("expiresAt");
        return { secret: secretOf(partner, await send.mutateAsync({ partner, environment, expiresAt })) };
      }}
      onClose={onClose}
    >
      <Field name="environment" label={t.environment} hint={environment === "trial" ? t.trialEnds : undefined}>
        <Select
          options={Object.entries(texts.common.environments)}
          value={environment}
          onChange={({ target }) => setEnvironment(target.value as Environment)}
        />
      </Field>
      {environment === "production" && (
        <Field name="expiresAt" label={t.expiresAt} hint={t.expiresAtHint}>
          <DayInput />
        </Field>
      )}
    </ActionDialog>
  );
}

interface TokenDialogProps {
  readonly partner: string;
  readonly token: AccessToken;
  readonly onClose: () => void;
}

function RotateToken({ partner, token, onClose }: TokenDialogProps) {
  const send = useSend("POST /tokens/:id/rotation");
  return (
    <ActionDialog
      title={t.rotateTitle}
      description={t.rotateHint}
      submit={t.rotateConfirm}
      onSubmit={async (values) => {
        const [overlapHours, expiresAt] = [values.number("overlapHours"), values.optional("expiresAt")];
        return { secret: secretOf(partner, await send.mutateAsync({ id: token.id, overlapHours, expiresAt })) };
      }}
      onClose={onClose}
    >
      <TokenFacts token={token} />
      <Field name="overlapHours" label={t.overlap} hint={t.overlapHint}>
        <TextInput type="number" required min={0} max={8760} step="any" defaultValue={24} />
      </Field>
      {token.environment === "production" && (
        <Field name="expiresAt" label={t.expiresAt} hint={t.rotateExpiresAtHint}>
          <DayInput />
        </Field>
      )}
    </ActionDialog>
  );
}

function RevokeToken({ token, onClose }: Omit<TokenDialogProps, "partner">) {
  const send = useSend("DELETE /tokens/:id");
  return (
    <ActionDialog
      title={t.revokeTitle}
      description={t.revokeText}
      submit={t.revokeConfirm}
      danger
      onSubmit={async () => {
        await send.mutateAsync({ id: token.id });
        return { toast: t.revoked(token.id) };
      }}
      onClose={onClose}
    >
      <TokenFacts token={token} />
    </ActionDialog>
  );
}

function TokenFacts({ token: { id, environment, lastUsedAt } }: { token: AccessToken }) {
  return (
    <KeyValue>
      <Fact label={t.token} value={<Code>{id}</Code>} />
      <Fact label={t.environment} value={texts.common.environments[environment]} />
      <Fact label={t.lastUse} value={<Time of={lastUsedAt} age none={t.never} />} />
    </KeyValue>
  );
}

/** A new token, for the dialog that shows it only once. */
function secretOf(partner: string, issued: IssuedToken | RotatedToken) {
  const { token, environment, expiresAt } = issued;
  const note = (
    <KeyValue>
      <Fact label={t.environment} value={texts.common.environments[environment]} />
      <Fact label={t.ends} value={<Time of={expiresAt} none={texts.common.noEnd} />} />
      {"formerUntil" in issued && <Fact label={t.previousUntil} value={<Time of={issued.formerUntil} />} />}
    </KeyValue>
  );
  return { title: t.newToken, description: t.newTokenFor(partner), label: t.tokenValue, value: token, note };
}

import { type ReactNode, useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Environment } from "../../api/names.ts";
import { useMay } from "../../api/session.tsx";
import type { AccessToken, IssuedToken, RotatedToken } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Select, TextInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Badge, Card, Code, KeyValue, Time } from "../../components/display.tsx";
import { Field, Form } from "../../components/form.tsx";
import { OnceDialog } from "../../components/once-dialog.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partners;

type Open = { readonly action: "issue" } | { readonly action: "rotate" | "revoke"; readonly token: AccessToken };

/** A partner's access tokens: those that hold, and on demand those that did. */
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
          const shown = showsOld ? items : items.filter(({ state }) => state === "valid");
          const hidden = items.length - shown.length;
          return (
            <>
              {hidden > 0 && (
                <div className="row">
                  <Button kind="quiet" onClick={() => setShowsOld(true)}>
                    {t.showOld(hidden)}
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
  { id: "id", header: t.token, cell: ({ id }) => <Code>{id}</Code> },
  { id: "environment", header: t.environment, cell: ({ environment }) => texts.common.environments[environment] },
  { id: "state", header: t.state, cell: ({ state }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
  { id: "issued", header: t.issued, cell: ({ createdAt }) => <Time of={createdAt} /> },
  {
    id: "ends",
    header: t.ends,
    cell: ({ expiresAt, revokedAt }) => {
      const end = revokedAt ?? expiresAt;
      return end === null ? texts.common.noEnd : <Time of={end} />;
    },
  },
  {
    id: "lastUse",
    header: t.lastUse,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.never : <Time of={lastUsedAt} age />),
  },
];

function actions(open: (next: Open) => void): Column<AccessToken> {
  return {
    id: "actions",
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

interface DialogOfPartner {
  readonly partner: string;
  readonly onClose: () => void;
}

function IssueToken({ partner, onClose }: DialogOfPartner) {
  const [environment, setEnvironment] = useState<Environment>(useEnvironment());
  const [issued, setIssued] = useState<IssuedToken>();
  const send = useSend("POST /partners/:partner/tokens");
  if (issued !== undefined) return <NewToken partner={partner} issued={issued} onClose={onClose} />;
  return (
    <Dialog open onOpenChange={onClose} title={t.issue} description={t.issueHint}>
      <Form
        submit={t.issueConfirm}
        onSubmit={async (values) => {
          const expiresAt = values.optional("expiresAt");
          setIssued(await send.mutateAsync({ partner, environment, expiresAt }));
        }}
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
            <TextInput type="date" />
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

function RotateToken({ partner, token, onClose }: DialogOfPartner & { token: AccessToken }) {
  const [rotated, setRotated] = useState<RotatedToken>();
  const send = useSend("POST /tokens/:id/rotation");
  if (rotated !== undefined) {
    return (
      <NewToken partner={partner} issued={rotated} onClose={onClose}>
        <KeyValue items={[[t.formerUntil, <Time key="until" of={rotated.formerUntil} />]]} />
      </NewToken>
    );
  }
  return (
    <Dialog open onOpenChange={onClose} title={t.rotateTitle} description={t.rotateHint}>
      <Form
        submit={t.rotateConfirm}
        onSubmit={async (values) => {
          const [overlapHours, expiresAt] = [values.number("overlapHours"), values.optional("expiresAt")];
          setRotated(await send.mutateAsync({ id: token.id, overlapHours, expiresAt }));
        }}
      >
        <TokenFacts token={token} />
        <Field name="overlapHours" label={t.overlap} hint={t.overlapHint}>
          <TextInput type="number" required min={0} max={8760} step="any" defaultValue={24} />
        </Field>
        {token.environment === "production" && (
          <Field name="expiresAt" label={t.expiresAt} hint={t.rotateExpiresAtHint}>
            <TextInput type="date" />
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

function RevokeToken({ token, onClose }: { token: AccessToken; onClose: () => void }) {
  const send = useSend("DELETE /tokens/:id");
  const toast = useToast();
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.revokeTitle}
      description={t.revokeText}
      confirm={t.revokeConfirm}
      danger
      onConfirm={async () => {
        await send.mutateAsync({ id: token.id });
        toast(t.revoked(token.id));
      }}
    >
      <TokenFacts token={token} />
    </ConfirmDialog>
  );
}

function TokenFacts({ token: { id, environment, lastUsedAt } }: { token: AccessToken }) {
  return (
    <KeyValue
      items={[
        [t.token, <Code key="id">{id}</Code>],
        [t.environment, texts.common.environments[environment]],
        [t.lastUse, lastUsedAt === null ? t.never : <Time key="use" of={lastUsedAt} age />],
      ]}
    />
  );
}

interface NewTokenProps extends DialogOfPartner {
  readonly issued: IssuedToken;
  readonly children?: ReactNode;
}

/** The one time that the token itself is shown. */
function NewToken({ partner, issued, onClose, children }: NewTokenProps) {
  return (
    <OnceDialog
      title={t.newToken}
      description={t.newTokenFor(partner)}
      label={t.tokenValue}
      value={issued.token}
      onClose={onClose}
    >
      <KeyValue
        items={[
          [t.environment, texts.common.environments[issued.environment]],
          [t.ends, issued.expiresAt === null ? texts.common.noEnd : <Time key="end" of={issued.expiresAt} />],
        ]}
      />
      {children}
    </OnceDialog>
  );
}

import { type ReactNode, useState } from "react";
import { useSend } from "../../api/hooks.ts";
import type { Environment } from "../../api/names.ts";
import type { AccessToken, IssuedToken, RotatedToken } from "../../api/staff-api.d.ts";
import { Select, TextInput } from "../../components/controls.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Code, KeyValue, Time } from "../../components/display.tsx";
import { Field, Form } from "../../components/form.tsx";
import { OnceDialog } from "../../components/once-dialog.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partners;

interface DialogOfPartner {
  readonly partner: string;
  readonly onClose: () => void;
}

export function IssueToken({ partner, onClose }: DialogOfPartner) {
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

export function RotateToken({ partner, token, onClose }: DialogOfPartner & { token: AccessToken }) {
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

export function RevokeToken({ token, onClose }: { token: AccessToken; onClose: () => void }) {
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

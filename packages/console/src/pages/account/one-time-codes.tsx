import qrcode from "qrcode-generator";
import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { TotpOffer } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { OwnPasswordField, ownPassword, TextInput } from "../../components/controls.tsx";
import { ActionDialog, Dialog } from "../../components/dialog.tsx";
import { Badge, Card, Code, Copyable, useCopy } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Note } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.account;

interface TotpCardProps {
  /** Gets the recovery codes. */
  readonly onSwitchedOn: (codes: readonly string[]) => void;
}

export function TotpCard({ onSwitchedOn }: TotpCardProps) {
  const { hasTotp, requiresTotp } = useMe();
  const [open, setOpen] = useState(false);
  const [offer, setOffer] = useState<TotpOffer>();
  const close = () => {
    setOpen(false);
    setOffer(undefined);
  };
  return (
    <Card title={t.totp} actions={<Badge tone={hasTotp ? "success" : "neutral"}>{hasTotp ? t.on : t.off}</Badge>}>
      <p>{hasTotp ? t.totpOn : t.totpOff}</p>
      {!(hasTotp && requiresTotp) && (
        <div className="row">
          <Button kind={hasTotp ? "plain" : "primary"} onClick={() => setOpen(true)}>
            {hasTotp ? t.switchOff : t.switchOn}
          </Button>
        </div>
      )}
      {open && hasTotp && <SwitchOff onClose={close} />}
      {open && !hasTotp && (
        <Dialog
          title={t.switchOnTitle}
          description={offer === undefined ? t.switchOnText : t.secretLead}
          onClose={close}
        >
          {offer === undefined ? (
            <AskForOffer onOffer={setOffer} />
          ) : (
            <Confirm
              offer={offer}
              onConfirmed={(codes) => {
                close();
                onSwitchedOn(codes);
              }}
            />
          )}
        </Dialog>
      )}
    </Card>
  );
}

function AskForOffer({ onOffer }: { onOffer: (offer: TotpOffer) => void }) {
  const send = useSend("POST /session/totp");
  const ask = async (values: FormValues) => {
    onOffer(await send.mutateAsync(ownPassword(values)));
  };
  return (
    <Form key="password" submit={t.continue} onSubmit={ask}>
      <OwnPasswordField />
    </Form>
  );
}

interface ConfirmProps {
  readonly offer: TotpOffer;
  readonly onConfirmed: (codes: readonly string[]) => void;
}

function Confirm({ offer: { secret, uri }, onConfirmed }: ConfirmProps) {
  const send = useSend("PUT /session/totp");
  const confirm = async (values: FormValues) => {
    const { recoveryCodes } = await send.mutateAsync({ code: values.text("code") });
    onConfirmed(recoveryCodes);
  };
  return (
    <>
      <QrCode of={uri} label={t.qrCode} />
      <Copyable label={t.secret} value={inFours(secret)} />
      <p>
        <a href={uri}>{t.openApp}</a>
      </p>
      <Form key="code" submit={t.switchOn} onSubmit={confirm}>
        <Field name="code" label={t.code} hint={t.codeHint}>
          <TextInput required autoComplete="one-time-code" inputMode="numeric" maxLength={7} />
        </Field>
      </Form>
    </>
  );
}

function SwitchOff({ onClose }: { onClose: () => void }) {
  const send = useSend("DELETE /session/totp");
  return (
    <ActionDialog
      title={t.switchOffTitle}
      description={t.switchOffText}
      submit={t.switchOff}
      onSubmit={async (values) => {
        await send.mutateAsync(ownPassword(values));
        return { toast: t.switchedOff };
      }}
      onClose={onClose}
    >
      <OwnPasswordField />
    </ActionDialog>
  );
}

/** Groups of four characters, easier to type; apps accept the blanks. */
function inFours(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, "$& ");
}

/** Shows the recovery codes only once, in place of the page. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [copy, outcome] = useCopy(codes.join("\n"));
  return (
    <>
      <PageHead title={t.recoveryTitle} lead={t.recoveryLead} />
      <Card>
        <ol className="secret-codes" aria-label={t.recoveryList}>
          {codes.map((code) => (
            <li key={code}>
              <Code>{code}</Code>
            </li>
          ))}
        </ol>
        <div className="row no-print">
          <Button icon="copy" onClick={copy}>
            {t.copyAll}
          </Button>
          <Button onClick={() => window.print()}>{texts.common.print}</Button>
          <span className="muted" role="status">
            {outcome}
          </span>
        </div>
      </Card>
      <div className="no-print">
        <Note tone="warning">
          <p>{t.recoveryOnce}</p>
          <Button kind="primary" onClick={onClose}>
            {texts.common.kept}
          </Button>
        </Note>
      </div>
    </>
  );
}

/** Blank modules around the code, as readers need them. */
const QUIET = 4;

/** A text as a QR code. Dark on white in both themes: some readers cannot read the reverse. */
function QrCode({ of, label }: { of: string; label: string }) {
  const code = qrcode(0, "M");
  code.addData(of);
  code.make();
  const count = code.getModuleCount();
  const modules = Array.from(
    { length: count * count },
    (_, index) => [index % count, Math.floor(index / count)] as const,
  );
  const dark = modules.filter(([column, row]) => code.isDark(row, column));
  const size = count + 2 * QUIET;
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.map(([column, row]) => `M${column + QUIET} ${row + QUIET}h1v1h-1z`).join("")} fill="#000" />
    </svg>
  );
}

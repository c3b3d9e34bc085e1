import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { TotpOffer } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Badge, Card, Copyable } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { OwnPasswordField, ownPassword } from "../../components/own-password.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { QrCode } from "./qr-code.tsx";

const t = texts.account;

interface TotpCardProps {
  /** Is given the recovery codes. */
  readonly onSwitchedOn: (codes: readonly string[]) => void;
}

export function TotpCard({ onSwitchedOn }: TotpCardProps) {
  const { hasTotp } = useMe();
  const [open, setOpen] = useState(false);
  const [offer, setOffer] = useState<TotpOffer>();
  const close = () => {
    setOpen(false);
    setOffer(undefined);
  };
  return (
    <Card title={t.totp} actions={<Badge tone={hasTotp ? "success" : "neutral"}>{hasTotp ? t.on : t.off}</Badge>}>
      <p>{hasTotp ? t.totpOn : t.totpOff}</p>
      <div className="row">
        <Button kind={hasTotp ? "plain" : "primary"} onClick={() => setOpen(true)}>
          {hasTotp ? t.switchOff : t.switchOn}
        </Button>
      </div>
      {hasTotp ? (
        <SwitchOff open={open} onClose={close} />
      ) : (
        <Dialog
          open={open}
          onOpenChange={(next) => !next && close()}
          title={t.switchOnTitle}
          description={offer === undefined ? t.switchOnText : t.secretLead}
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

function SwitchOff({ open, onClose }: { open: boolean; onClose: () => void }) {
  const send = useSend("DELETE /session/totp");
  const toast = useToast();
  const switchOff = async (values: FormValues) => {
    await send.mutateAsync(ownPassword(values));
    onClose();
    toast(t.switchedOff);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={t.switchOffTitle}
      description={t.switchOffText}
    >
      <Form submit={t.switchOff} onSubmit={switchOff}>
        <OwnPasswordField />
      </Form>
    </Dialog>
  );
}

/** Groups of four characters, easier to type; apps accept the blanks. */
function inFours(secret: string): string {
  return secret.replace(/.{4}(?=.)/g, "$& ");
}

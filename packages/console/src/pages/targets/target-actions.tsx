import { useState } from "react";
import { useLocation } from "wouter";
import { useSend } from "../../api/hooks.ts";
import type { Target } from "../../api/staff-api.d.ts";
import { Button, Icon } from "../../components/button.tsx";
import { ActionButton, ActionDialog } from "../../components/dialog.tsx";
import { Time } from "../../components/display.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { Note } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { secretOf } from "./state.tsx";

const t = texts.targets;

/** Actions of an administrator on a target. */
export function TargetActions({ target }: { target: Target }) {
  const { name, kind, paused, failing, setAside } = target;
  const [asking, setAsking] = useState<"pause" | "rotate" | "remove">();
  const change = useSend("PATCH /targets/:name");
  const removal = useSend("DELETE /targets/:name");
  const sending = useSend("POST /targets/:name/resend");
  const rotation = useSend("POST /targets/:name/rotation");
  const [, navigate] = useLocation();

  const close = () => setAsking(undefined);
  const resume = async () => {
    await change.mutateAsync({ name, paused: false });
    return t.resumed(name);
  };
  const resend = async () => t.resent(formatCount((await sending.mutateAsync({ name })).resent));
  return (
    <>
      {(failing > 0 || setAside > 0) && (
        <ActionButton kind="primary" action={resend}>
          {t.resend}
        </ActionButton>
      )}
      {paused ? (
        <ActionButton kind="primary" action={resume}>
          {t.resume}
        </ActionButton>
      ) : (
        <Button onClick={() => setAsking("pause")}>{t.pause}</Button>
      )}
      <Menu label={texts.common.rowActions(name)} trigger={<Icon name="more" />}>
        {kind === "webhook" && <MenuItem onSelect={() => setAsking("rotate")}>{t.rotate}</MenuItem>}
        <MenuItem danger onSelect={() => setAsking("remove")}>
          {t.remove}
        </MenuItem>
      </Menu>

      {asking === "pause" && (
        <ActionDialog
          title={t.pauseTitle(name)}
          description={target.billing ? t.pauseTextBilling : t.pauseText}
          submit={t.pause}
          onSubmit={async () => {
            await change.mutateAsync({ name, paused: true });
            return { toast: t.paused(name) };
          }}
          onClose={close}
        />
      )}
      {asking === "rotate" && (
        <ActionDialog
          title={t.rotateTitle(name)}
          description={t.rotateText}
          submit={t.rotate}
          onSubmit={async () => {
            const { secret, formerUntil } = await rotation.mutateAsync({ name });
            return { secret: { ...secretOf(name, secret), note: <PreviousUntil of={formerUntil} /> } };
          }}
          onClose={close}
        />
      )}
      {asking === "remove" && (
        <ActionDialog
          title={t.removeTitle(name)}
          description={t.removeText}
          submit={t.remove}
          danger
          onSubmit={async () => {
            await removal.mutateAsync({ name });
            navigate("/targets");
            return { toast: t.removed(name) };
          }}
          onClose={close}
        >
          <Losses of={target} />
        </ActionDialog>
      )}
    </>
  );
}

function PreviousUntil({ of }: { of: string }) {
  return (
    <p>
      {t.previousUntil} <Time of={of} />.
    </p>
  );
}

function Losses({ of: { behind } }: { of: Target }) {
  return behind > 0 && <Note tone="warning">{t.removeLoses(formatCount(behind))}</Note>;
}

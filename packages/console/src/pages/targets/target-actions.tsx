import { useState } from "react";
import { useLocation } from "wouter";
import { useSend } from "../../api/hooks.ts";
import type { RotatedSecret, Target } from "../../api/staff-api.d.ts";
import { Button, Icon } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Time } from "../../components/display.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { OnceDialog } from "../../components/once-dialog.tsx";
import { Note } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.targets;

/** Actions of an administrator on a target. */
export function TargetActions({ target }: { target: Target }) {
  const { name, kind, paused, failing, setAside } = target;
  const [asking, setAsking] = useState<"pause" | "rotate" | "remove">();
  const [rotated, setRotated] = useState<RotatedSecret>();
  const change = useSend("PATCH /targets/:name");
  const removal = useSend("DELETE /targets/:name");
  const rotation = useSend("POST /targets/:name/rotation");
  const toast = useToast();
  const [, navigate] = useLocation();

  const dialog = (what: NonNullable<typeof asking>) => ({
    open: asking === what,
    onOpenChange: (open: boolean) => setAsking(open ? what : undefined),
  });
  const setPaused = async (next: boolean) => {
    await change.mutateAsync({ name, paused: next });
    toast(next ? t.paused(name) : t.resumed(name));
  };
  const remove = async () => {
    await removal.mutateAsync({ name });
    toast(t.removed(name));
    navigate("/targets");
  };

  return (
    <>
      {failing + setAside > 0 && <Resend name={name} />}
      {paused ? (
        <Resume onResume={() => setPaused(false)} />
      ) : (
        <Button onClick={() => setAsking("pause")}>{t.pause}</Button>
      )}
      <Menu label={texts.common.rowActions(name)} trigger={<Icon name="more" />}>
        {kind === "webhook" && <MenuItem onSelect={() => setAsking("rotate")}>{t.rotate}</MenuItem>}
        <MenuItem danger onSelect={() => setAsking("remove")}>
          {t.remove}
        </MenuItem>
      </Menu>

      <ConfirmDialog
        {...dialog("pause")}
        title={t.pauseTitle(name)}
        description={target.billing ? t.pauseTextBilling : t.pauseText}
        confirm={t.pause}
        onConfirm={() => setPaused(true)}
      />
      <ConfirmDialog
        {...dialog("rotate")}
        title={t.rotateTitle(name)}
        description={t.rotateText}
        confirm={t.rotate}
        onConfirm={async () => setRotated(await rotation.mutateAsync({ name }))}
      />
      <ConfirmDialog
        {...dialog("remove")}
        title={t.removeTitle(name)}
        description={t.removeText}
        confirm={t.remove}
        danger
        onConfirm={remove}
      >
        <Losses of={target} />
      </ConfirmDialog>
      {rotated && (
        <OnceDialog
          title={t.secretTitle(name)}
          description={t.secretLead}
          label={t.secret}
          value={rotated.secret}
          onClose={() => setRotated(undefined)}
        >
          <p>
            {t.formerUntil} <Time of={rotated.formerUntil} />.
          </p>
        </OnceDialog>
      )}
    </>
  );
}

function Losses({ of: { behind, failing, setAside } }: { of: Target }) {
  const count = behind + failing + setAside;
  if (count === 0) return null;
  return (
    <Note tone="warning">
      <p>{t.removeLoses(formatCount(count))}</p>
    </Note>
  );
}

/** Changes nothing that would have to be asked about first. */
function Resume({ onResume }: { onResume: () => Promise<void> }) {
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    await onResume().catch((error: Error) => toast(error.message));
    setBusy(false);
  };
  return (
    <Button kind="primary" busy={busy} onClick={() => void resume()}>
      {t.resume}
    </Button>
  );
}

function Resend({ name }: Pick<Target, "name">) {
  const send = useSend("POST /targets/:name/resend");
  const toast = useToast();
  const resend = async () => {
    try {
      const { resent } = await send.mutateAsync({ name });
      toast(t.resent(formatCount(resent)));
    } catch (error) {
      toast((error as Error).message);
    }
  };
  return (
    <Button kind="primary" busy={send.isPending} onClick={() => void resend()}>
      {t.resend}
    </Button>
  );
}

import * as Radix from "@radix-ui/react-dialog";
import { type ComponentProps, type ReactNode, useRef, useState } from "react";
import { useCorrection } from "../api/hooks.ts";
import type { Answer, CorrectionInput, CorrectionKey } from "../api/request.ts";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";
import { TextInput } from "./controls.tsx";
import { Copyable } from "./display.tsx";
import { Field, Form, type FormValues } from "./form.tsx";
import { ErrorNote, Loading } from "./states.tsx";
import { useToast } from "./toasts.tsx";

const t = texts.common.whyNot;

interface DialogProps {
  readonly title: string;
  /** Purpose of the dialog, one sentence. */
  readonly description?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog that Escape closes. Focus starts in the first field and returns to the previous element. */
export function Dialog({ title, description, onClose, children }: DialogProps) {
  const content = useRef<HTMLDivElement>(null);
  const opener = useRef<Element>(null);
  const focusField = (event: Event) => {
    opener.current = document.activeElement;
    const field = content.current?.querySelector<HTMLElement>("input, select, textarea");
    if (!field) return;
    event.preventDefault();
    field.focus();
  };
  // The action may have removed the button that opened the dialog.
  const focusOpener = (event: Event) => {
    event.preventDefault();
    const previous = opener.current?.isConnected ? opener.current : document.querySelector("h1");
    (previous as HTMLElement | null)?.focus();
  };
  return (
    <Radix.Root open onOpenChange={onClose}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          ref={content}
          onOpenAutoFocus={focusField}
          onCloseAutoFocus={focusOpener}
          className="dialog stack"
          {...(description === undefined && { "aria-describedby": undefined })}
        >
          <header className="dialog-head">
            <Radix.Title>{title}</Radix.Title>
            <Radix.Close className="icon-button" aria-label={texts.common.close}>
              <Icon name="close" />
            </Radix.Close>
          </header>
          {description !== undefined && <Radix.Description className="muted">{description}</Radix.Description>}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface Outcome {
  /** Text that confirms the action. */
  readonly toast?: string;
  /** Secret that replaces the dialog until staff have saved it. */
  readonly secret?: Secret | undefined;
}

interface ActionDialogProps extends Omit<DialogProps, "children"> {
  /** Label of the button that runs the action. */
  readonly submit: string;
  readonly danger?: boolean;
  /** Why the action cannot run; undefined if it can. */
  readonly why?: string | undefined;
  /** Runs the action. The dialog closes on success and shows the error otherwise. */
  readonly onSubmit: (values: FormValues) => Promise<Outcome>;
  /** Fields, or the effect of the action. */
  readonly children?: ReactNode;
}

/** Asks before an action runs, with the fields that the action needs. */
export function ActionDialog({ submit, danger, why, onSubmit, children, ...dialog }: ActionDialogProps) {
  const [secret, setSecret] = useState<Secret>();
  const toast = useToast();
  const run = async (values: FormValues) => {
    const outcome = await onSubmit(values);
    if (outcome.toast !== undefined) toast(outcome.toast);
    if (outcome.secret === undefined) dialog.onClose();
    else setSecret(outcome.secret);
  };
  if (secret !== undefined) return <SecretDialog {...secret} onClose={dialog.onClose} />;
  return (
    <Dialog {...dialog}>
      <Form
        submit={submit}
        danger={danger ?? false}
        why={why}
        onSubmit={run}
        actions={<Button onClick={dialog.onClose}>{texts.common.cancel}</Button>}
      >
        {children}
      </Form>
    </Dialog>
  );
}

interface ActionButtonProps extends Omit<ComponentProps<typeof Button>, "onClick" | "busy"> {
  /** Returns the text that confirms the action. */
  readonly action: () => Promise<string>;
}

/** Runs an action at once, and shows the outcome as a toast. */
export function ActionButton({ action, ...button }: ActionButtonProps) {
  const [busy, setBusy] = useState(false);
  const toast = useToast();
  const run = async () => {
    setBusy(true);
    toast(await action().catch((error: Error) => error.message));
    setBusy(false);
  };
  return <Button {...button} busy={busy} onClick={() => void run()} />;
}

interface CorrectionDialogProps<K extends CorrectionKey> extends Omit<ActionDialogProps, "why" | "onSubmit"> {
  readonly correction: K;
  /** Null while a field is missing or wrong. */
  readonly input: CorrectionInput<K> | null;
  /** The previewed effect. */
  readonly show: (effect: Answer<K>) => ReactNode;
  /** Whether the correction changes nothing, so that it cannot be sent. */
  readonly isIdle?: (effect: Answer<K>) => boolean;
  /** Text that confirms the correction. */
  readonly done: (effect: Answer<K>) => string;
}

/** Previews a correction, asks for a reason and sends it. `children`: fields above the preview. */
export function CorrectionDialog<K extends CorrectionKey>(props: CorrectionDialogProps<K>) {
  const { correction, input, show, isIdle, done, children, ...dialog } = props;
  const { effect, error, isReady, commit } = useCorrection(correction, input);
  return (
    <ActionDialog
      {...dialog}
      why={whyNot(input !== null, error, isReady ? effect : undefined, isIdle)}
      onSubmit={async (values) => ({ toast: done(await commit(values.text("reason"))) })}
    >
      {children}
      {error !== null && <ErrorNote error={error} />}
      {input !== null && error === null && effect === undefined && <Loading />}
      {effect !== undefined && (
        <div role="status" className={isReady ? undefined : "outdated"}>
          {show(effect)}
        </div>
      )}
      <ReasonField required />
    </ActionDialog>
  );
}

export function ReasonField({ required = false }: { required?: boolean }) {
  return (
    <Field name="reason" label={texts.common.reason} hint={texts.common.reasonHint}>
      <TextInput required={required} maxLength={200} />
    </Field>
  );
}

/** Why a previewed change cannot be sent. @param effect undefined until it is loaded. */
export function whyNot<Effect>(
  isComplete: boolean,
  error: Error | null,
  effect: Effect | undefined,
  isIdle?: (effect: Effect) => boolean,
): string | undefined {
  if (!isComplete) return t.incomplete;
  if (error !== null) return t.seeProblem;
  if (effect === undefined) return texts.common.loading;
  return isIdle?.(effect) === true ? t.changesNothing : undefined;
}

interface Secret {
  readonly title: string;
  /** Names the reader of the secret and its use. */
  readonly description: string;
  readonly label: string;
  readonly value: string;
  readonly note?: ReactNode;
}

/** Shows a secret only once: neither Escape nor a click outside closes the dialog by mistake. */
function SecretDialog({ title, description, label, value, note, onClose }: Secret & { onClose: () => void }) {
  return (
    <Radix.Root open>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className="dialog stack"
          onEscapeKeyDown={(event) => event.preventDefault()}
          onInteractOutside={(event) => event.preventDefault()}
          // The previous dialog is gone, and the button that opened it may be gone too.
          onCloseAutoFocus={() => document.querySelector<HTMLElement>("h1")?.focus()}
        >
          <Radix.Title>{title}</Radix.Title>
          <Radix.Description className="muted">{description}</Radix.Description>
          <Copyable label={label} value={value} once />
          {note}
          <div className="row">
            <Button kind="primary" onClick={onClose}>
              {texts.common.kept}
            </Button>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

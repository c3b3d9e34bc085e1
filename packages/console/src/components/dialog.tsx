import * as Radix from "@radix-ui/react-dialog";
import { type ReactNode, useRef } from "react";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";
import { TextInput } from "./controls.tsx";
import { Field, Form, type FormValues } from "./form.tsx";

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** Purpose of the dialog, one sentence. */
  readonly description?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A dialog that Escape closes. Focus starts in the first field and returns to the previous element. */
export function Dialog({ open, onOpenChange, title, description, wide = false, children }: DialogProps) {
  const content = useRef<HTMLDivElement>(null);
  const opener = useRef<Element>(null);
  const begin = (event: Event) => {
    opener.current = document.activeElement;
    const field = content.current?.querySelector<HTMLElement>("input, select, textarea");
    if (!field) return;
    event.preventDefault();
    field.focus();
  };
  // The action may have removed the button that opened the dialog.
  const end = (event: Event) => {
    event.preventDefault();
    const former = opener.current?.isConnected ? opener.current : document.querySelector("h1");
    (former as HTMLElement | null)?.focus();
  };
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          ref={content}
          onOpenAutoFocus={begin}
          onCloseAutoFocus={end}
          className={wide ? "dialog dialog-wide" : "dialog"}
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

interface ConfirmDialogProps extends Omit<DialogProps, "children"> {
  /** On the button that does it. */
  readonly confirm: string;
  readonly danger?: boolean;
  /** Whether a reason is asked for. */
  readonly reason?: boolean;
  /** Until what it would do is known and allowed. */
  readonly disabled?: boolean;
  /** Runs the action. The dialog closes on success and shows the error otherwise. */
  readonly onConfirm: (reason: string, values: FormValues) => Promise<unknown>;
  /** The effect of the action: a BeforeAfter, or fields. */
  readonly children?: ReactNode;
}

/** Asks before something is done. */
export function ConfirmDialog({
  confirm,
  danger = false,
  reason = false,
  disabled = false,
  onConfirm,
  children,
  ...dialog
}: ConfirmDialogProps) {
  const close = () => dialog.onOpenChange(false);
  return (
    <Dialog {...dialog}>
      <Form
        submit={confirm}
        danger={danger}
        disabled={disabled}
        onSubmit={async (values) => {
          await onConfirm(values.text("reason"), values);
          close();
        }}
        actions={<Button onClick={close}>{texts.common.cancel}</Button>}
      >
        {children}
        {reason && (
          <Field name="reason" label={texts.common.reason} hint={texts.common.reasonHint}>
            <TextInput required maxLength={200} />
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

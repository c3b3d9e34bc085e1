import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { Copyable } from "./display.tsx";

interface OnceDialogProps {
  readonly title: string;
  /** Names the reader of the secret and its use. */
  readonly description: string;
  /** Label of the secret. */
  readonly label: string;
  readonly value: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Shows a secret that is shown once: neither Escape nor a click beside it closes it by mistake. */
export function OnceDialog({ title, description, label, value, onClose, children }: OnceDialogProps) {
  return (
    <Radix.Root open>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className="dialog"
          onEscapeKeyDown={(event) => event.preventDefault()}
          onInteractOutside={(event) => event.preventDefault()}
          // The dialog whose place it took is gone, and with it what opened that.
          onCloseAutoFocus={() => document.querySelector<HTMLElement>("h1")?.focus()}
        >
          <Radix.Title>{title}</Radix.Title>
          <Radix.Description className="muted">{description}</Radix.Description>
          <Copyable label={label} value={value} once />
          {children}
          <div className="form-actions">
            <Button kind="primary" onClick={onClose}>
              {texts.common.kept}
            </Button>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

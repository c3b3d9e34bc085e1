import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";
import type { ChoiceProps } from "./controls.tsx";

interface MenuProps {
  /** Content of the button that opens the menu. */
  readonly trigger: ReactNode;
  /** Accessible name if the button shows only an icon. */
  readonly label?: string;
  readonly quiet?: boolean;
  readonly children: ReactNode;
}

/** A button that opens a list of MenuItems. */
export function Menu({ trigger, label, quiet = false, children }: MenuProps) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger className={quiet ? "button button-quiet" : "button button-plain"} aria-label={label}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({
  onSelect,
  danger = false,
  children,
}: {
  onSelect: () => void;
  danger?: boolean;
  children: ReactNode;
}) {
  return (
    <Radix.Item className={danger ? "menu-item menu-item-danger" : "menu-item"} onSelect={onSelect}>
      {children}
    </Radix.Item>
  );
}

/** Choice of one value inside a menu. */
export function MenuChoice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  return (
    <Radix.RadioGroup value={value} onValueChange={(next) => onChoose(next as Value)} aria-label={label}>
      <Radix.Label className="menu-label">{label}</Radix.Label>
      {options.map(([option, text]) => (
        <Radix.RadioItem key={option} value={option} className="menu-item" onSelect={(event) => event.preventDefault()}>
          <span className="menu-mark">
            <Radix.ItemIndicator>✓</Radix.ItemIndicator>
          </span>
          {text}
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export function MenuLine() {
  return <Radix.Separator className="menu-line" />;
}

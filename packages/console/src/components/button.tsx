import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";
import { Icon, type IconName } from "./icon.tsx";

export type ButtonKind = "primary" | "plain" | "danger" | "quiet";

interface Look {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly children: ReactNode;
}

/** `busy`: what it began is under way; it cannot be pressed again meanwhile. */
export function Button({
  kind = "plain",
  icon,
  busy = false,
  children,
  ...rest
}: Look & { busy?: boolean } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      {...rest}
      className={`button button-${kind}`}
      aria-busy={busy || undefined}
      disabled={busy || rest.disabled}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Goes to a page of the console. */
export function LinkButton({ href, kind = "plain", icon, children }: Look & { href: string }) {
  return (
    <Link href={href} className={`button button-${kind}`}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </Link>
  );
}

/** Downloads what the API answers: `<DownloadButton href={apiUrl("GET /transactions.csv", input)}>`. */
export function DownloadButton({ href, kind = "plain", icon = "download", children }: Look & { href: string }) {
  return (
    <a href={href} download="" className={`button button-${kind}`}>
      <Icon name={icon} />
      {children}
    </a>
  );
}

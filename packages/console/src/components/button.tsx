import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";

type ButtonKind = "primary" | "plain" | "danger" | "quiet";

interface Look {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly children: ReactNode;
}

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children" | "disabled"> {
  /** Whether the action of the button is running: then the button is disabled. */
  readonly busy?: boolean;
  /** Why the button is disabled; undefined if it is not. */
  readonly why?: string | undefined;
}

export function Button({ kind = "plain", icon, busy = false, why, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      title={why}
      {...rest}
      className={`button button-${kind}`}
      aria-busy={busy || undefined}
      disabled={busy || why !== undefined}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link to a page of the console. */
export function LinkButton({ href, kind = "plain", children }: Omit<Look, "icon"> & { href: string }) {
  return (
    <Link href={href} className={`button button-${kind}`}>
      {children}
    </Link>
  );
}

/** A link that downloads an answer of the API: `<DownloadButton href={apiUrl("GET /transactions.csv", input)}>`. */
export function DownloadButton({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} download="" className="button button-plain">
      <Icon name="download" />
      {children}
    </a>
  );
}

const PATHS = {
  menu: "M3 6h14M3 10h14M3 14h14",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17",
  close: "M5 5l10 10M15 5 5 15",
  check: "M4 10.5l4 4 8-9",
  copy: "M7 7h9v9H7zM4 13V4h9",
  down: "M5 8l5 5 5-5",
  up: "M5 12l5-5 5 5",
  person: "M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17a6.5 6.5 0 0 1 13 0",
  download: "M10 3v10M5.5 9 10 13.5 14.5 9M4 17h12",
  upload: "M10 13V3M5.5 7 10 2.5 14.5 7M4 17h12",
  alert: "M10 3 2 17h16zM10 8v4M10 14.5v.1",
  info: "M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM10 9v5M10 6.4v.1",
  more: "M4.5 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M9.5 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M14.5 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0",
  arrow: "M4 10h12M11 5l5 5-5 5",
} as const;

type IconName = keyof typeof PATHS;

/** A decorative icon. The control or the text beside it has the accessible name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Where everything is kept. */
export type DatabaseAddress =
  /** The file of the embedded store. */
  { readonly store: "sqlite"; readonly path: string } | { readonly store: "postgres"; readonly url: string };

const MUST_BE =
  "must be sqlite: and the path of a file, such as sqlite:./topupd.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

const TLS_MODES = ["", "verify-full", "no-verify", "disable"];

export function readDatabaseAddress(text: string): DatabaseAddress {
  const path = /^sqlite:(.+)$/s.exec(text)?.[1];
  if (path !== undefined && !/^(:|file:)/.test(path)) return { store: "sqlite", path };
  const url = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.pathname.length <= 1) throw new Error(MUST_BE);
  // The driver takes the others for verify-full, and warns of that: they must not mean something else one day.
  if (!TLS_MODES.includes(url.searchParams.get("sslmode") ?? ""))
    throw new Error("must have sslmode=verify-full, no-verify or disable, or none");
  return { store: "postgres", url: text };
}

/** As it was given, without the password. */
export function showDatabaseAddress(address: DatabaseAddress): string {
  return address.store === "sqlite" ? `sqlite:${address.path}` : withoutPassword(address.url);
}

/** A text that may be an address, or a misspelt one, without what looks like its password. */
export function withoutPassword(text: string): string {
  const shown = text.startsWith("sqlite:") ? text : text.replace(/^(\w+:?\/+[^:/@]*:|[^:/@]*:(?!\/)).*@/s, "$1***@");
  return shown.replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}

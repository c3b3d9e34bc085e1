/** Location of the data. */
export type DatabaseAddress =
  | { readonly store: "sqlite"; readonly path: string }
  | { readonly store: "postgres"; readonly url: string };

const POSTGRES = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";
const MUST_BE = `must be sqlite: and the path of a file, such as sqlite:./topupd.db, or ${POSTGRES}`;

const TLS_MODES = ["", "verify-full", "no-verify", "disable"];

export function readDatabaseAddress(text: string): DatabaseAddress {
  const path = /^sqlite:(.+)$/s.exec(text)?.[1];
  if (path !== undefined && !/^(:|file:)/.test(path)) return { store: "sqlite", path };
  return { store: "postgres", url: readPostgresAddress(text, MUST_BE) };
}

export function readPostgresAddress(text: string, mustBe = `must be ${POSTGRES}`): string {
  const url = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.pathname.length <= 1) throw new Error(mustBe);
  // The driver treats other modes as verify-full and warns that this will change.
  if (!TLS_MODES.includes(url.searchParams.get("sslmode") ?? ""))
    throw new Error("must have sslmode=verify-full, no-verify or disable, or none");
  return text;
}

/** The address without its password. */
export function showDatabaseAddress(address: DatabaseAddress): string {
  return address.store === "sqlite" ? `sqlite:${address.path}` : withoutPassword(address.url);
}

/** A text that may be a (misspelt) address, without its likely password. */
export function withoutPassword(text: string): string {
  const shown = text.startsWith("sqlite:") ? text : text.replace(/^(\w+:?\/+[^:/@]*:|[^:/@]*:(?!\/)).*@/s, "$1***@");
  return shown.replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}

/** Where everything is kept. */
export type DatabaseAddress =
  /** The file of the embedded store. */
  { readonly store: "sqlite"; readonly path: string } | { readonly store: "postgres"; readonly url: string };

const MUST_BE =
  "must be sqlite: and the path of a file, such as sqlite:./topupd.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/** @throws Error that says what the text must be. */
export function readDatabaseAddress(text: string): DatabaseAddress {
  const path = /^sqlite:(.+)$/s.exec(text)?.[1];
  if (path !== undefined && !/^(:|file:)/.test(path)) return { store: "sqlite", path };
  if (/^postgres(ql)?:\/\//.test(text) && isUrlOfDatabase(text)) return { store: "postgres", url: text };
  throw new Error(MUST_BE);
}

/** As it was given, without the password. */
export function showDatabaseAddress(address: DatabaseAddress): string {
  return address.store === "sqlite" ? `sqlite:${address.path}` : withoutPassword(address.url);
}

/** A text that may be an address, or a misspelt one, without what looks like its password. */
export function withoutPassword(text: string): string {
  return text.replace(/(:\/*[^:/@]*:).*@/s, "$1***@").replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}

function isUrlOfDatabase(text: string): boolean {
  try {
    return new URL(text).pathname.length > 1;
  } catch {
    return false;
  }
}

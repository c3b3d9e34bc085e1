import { ALL_ROLES, type Role } from "../domain/authority.ts";
import { mustBe, readTextLine } from "./setting-values.ts";

/** Settings of the log-in of staff, a part of the table of settings. */
export const LOG_IN_SETTINGS = {
  passwordLogIn: {
    placeholder: "YES-OR-NO",
    fallback: "yes",
    description: "whether staff can log in by password: yes or no",
    read: (text: string) => text === "yes" || (text !== "no" && mustBe("yes or no")),
  },
  oidcIssuer: {
    placeholder: "URL",
    description: "OpenID Connect issuer with which staff log in; if not set, none",
    read: readIssuer,
  },
  oidcClient: { placeholder: "ID", description: "client id at the OpenID Connect issuer", read: readTextLine },
  oidcSecret: {
    placeholder: "SECRET",
    description: "client secret, better given as a variable; if not set, the client is public",
    read: (text: string) => text || undefined,
  },
  oidcRoleClaim: {
    placeholder: "NAME",
    fallback: "topupd_role",
    description: "OpenID Connect claim, or path to it, with the role, or a list of roles of which the highest counts",
    read: readTextLine,
  },
  requireTotp: {
    placeholder: "LIST",
    fallback: "admin,finance",
    description: "roles of staff that must use one-time codes, separated by commas, or none",
    read: readRoles,
  },
};

type LogInConfig = { readonly passwordLogIn: boolean; readonly oidcIssuer?: unknown; readonly oidcClient?: unknown };

/** @returns undefined if the settings fit each other. */
export function problemOfLogIn({ passwordLogIn, oidcIssuer, oidcClient }: LogInConfig): string | undefined {
  if ((oidcIssuer === undefined) !== (oidcClient === undefined))
    return "--oidc-issuer and --oidc-client need each other: set both, or none";
  if (!passwordLogIn && oidcIssuer === undefined)
    return "--password-log-in no needs --oidc-issuer, or nobody can log in";
  return undefined;
}

/** Plain HTTP is allowed on this machine only. */
function readIssuer(text: string): string {
  const { protocol, hostname, search, hash } = URL.canParse(text) ? new URL(text) : new URL("none:");
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if ((protocol === "https:" || (protocol === "http:" && isHere)) && search + hash === "") return text;
  return mustBe("a URL such as https://accounts.provider.example");
}

/** @returns the named roles of staff. */
function readRoles(text: string): ReadonlySet<Role> {
  const names = text === "none" ? [] : text.split(",").map((name) => name.trim());
  return new Set(
    names.map((name) => ALL_ROLES.find((role) => role === name) ?? mustBe(`none or a list of ${ALL_ROLES.join(", ")}`)),
  );
}

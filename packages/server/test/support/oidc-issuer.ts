import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { vi } from "vitest";
import { tool } from "./tools.ts";

/* An OpenID Connect issuer on this machine, by oidc-provider. Its page asks who logs in, and no password. */

export interface TestIssuer {
  readonly url: string;
  /** Claims of each account, by its subject. */
  readonly accounts: Map<string, Record<string, unknown>>;
  /** Log-in pages that were shown. */
  pagesShown: number;
  /** Goes to the issuer as a browser. @returns where the issuer sends it back. */
  visit(page: string, subject: string, browser?: Browsing): Promise<string>;
  stop(): Promise<void>;
}

/** Cookies of a browser at the issuer. */
export type Browsing = Map<string, string>;

export const CLIENT = "topupd";
export const CLIENT_SECRET = "a secret of the client, in no log";

/** The parts of oidc-provider that this file uses. */
interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}

interface Context {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}

const SCOPE = "openid profile email";

/** @param redirectUris addresses of the console to which the browser may come back. */
export async function startIssuer(redirectUris: readonly string[], port = 0): Promise<TestIssuer> {
  // It warns of Node 20, and that it is kept in memory.
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { Provider } = (await import(tool("oidc-provider/lib/index.js"))) as {
    Provider: new (url: string, configuration: object) => Provider;
  };
  const server = createServer();
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts: TestIssuer["accounts"] = new Map();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const provider = new Provider(url, {
    clients: [{ client_id: CLIENT, client_secret: CLIENT_SECRET, redirect_uris: redirectUris }],
    claims: { profile: ["preferred_username", "topupd_role"], email: ["email"] },
    cookies: { keys: ["of tests"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...accounts.get(accountId) }),
    }),
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig" }] },
    // Nobody is asked for consent.
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(SCOPE);
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  warnings.mockRestore();
  const serve = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return serve(request, response);
    if (request.method === "POST") return void finish(request, response);
    issuer.pagesShown += 1;
    response.setHeader("content-type", "text/html");
    response.end(
      '<!doctype html><link rel="icon" href="data:,"><title>Issuer</title><form method="post"><label>Account <input name="login"></label><button>Sign in</button></form>',
    );
  });
  const finish = async (request: IncomingMessage, response: ServerResponse) => {
    const accountId = new URLSearchParams(await text(request)).get("login");
    await provider.interactionFinished(request, response, { login: { accountId } });
  };
  const issuer: TestIssuer = {
    ...{ url, accounts, pagesShown: 0 },
    async visit(page, subject, browser = new Map()) {
      let next = page;
      while (next.startsWith(url)) {
        const isPage = next.startsWith(`${url}/interaction/`);
        const response = await fetch(next, {
          redirect: "manual",
          headers: { cookie: [...browser].map((pair) => pair.join("=")).join("; ") },
          ...(isPage && { method: "POST", body: new URLSearchParams({ login: subject }) }),
        });
        for (const cookie of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          browser.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null) throw new Error(`the issuer answered ${response.status}: ${await response.text()}`);
        if (isPage) issuer.pagesShown += 1;
        next = new URL(location, next).href;
      }
      return next;
    },
    async stop() {
      const stopped = new Promise((closed) => server.close(closed));
      server.closeAllConnections();
      await stopped;
    },
  };
  return issuer;
}

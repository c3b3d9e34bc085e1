import { generateKeyPairSync, sign } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { CLIENT } from "./oidc-issuer.ts";

/* An OpenID Connect issuer that states whatever a test wants, without a page. */

interface LooseIssuer {
  readonly url: string;
  /** Claims of the next ID token. */
  claims: Record<string, unknown>;
  /** Answers in place of the ID token. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** How many codes it was asked about. */
  asked: number;
  /** @returns where the issuer sends the browser back. */
  visit(page: string): string;
}

export async function startLooseIssuer(): Promise<LooseIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  let nonce: string | null = null;
  const idToken = () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer.url, aud: CLIENT, iat: now, exp: now + 600, nonce, ...issuer.claims };
    const signed = `${part({ alg: "RS256", kid: "1" })}.${part(claims)}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
  };
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const json = (value: object) => response.end(JSON.stringify(value));
    if (request.url === "/jwks")
      return json({ keys: [{ ...publicKey.export({ format: "jwk" }), alg: "RS256", kid: "1", use: "sig" }] });
    if (request.url !== "/token")
      return json({
        ...{ issuer: issuer.url, authorization_endpoint: `${issuer.url}/page`, token_endpoint: `${issuer.url}/token` },
        jwks_uri: `${issuer.url}/jwks`,
      });
    issuer.asked += 1;
    if (issuer.answer !== undefined) return issuer.answer(response);
    return json({ access_token: "a", token_type: "Bearer", id_token: idToken() });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer: LooseIssuer = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, claims: {}, answer: undefined, asked: 0 },
    visit(page) {
      const { searchParams } = new URL(page);
      nonce = searchParams.get("nonce");
      return `${searchParams.get("redirect_uri")}?code=c&state=${searchParams.get("state")}`;
    },
  };
  return issuer;
}

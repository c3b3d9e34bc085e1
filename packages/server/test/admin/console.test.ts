import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startStaffApi } from "../support/staff-api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PAGE = "<!doctype html><title>topupd</title>";
const SCRIPT = "document.title = 'console';";

/** What the console's build leaves. */
function builtConsole(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "assets", "index-abc123.js"), SCRIPT);
  writeFileSync(join(folder, "assets", "index-abc123.js.gz"), gzipSync(SCRIPT));
  return folder;
}

describe("the console's files", () => {
  test("are a document for every page, and scripts that a browser keeps", async () => {
    const { app } = await startStaffApi({ consoleFolder: builtConsole() });
    for (const path of ["/", "/customers/1000001", "/partners/Blue.Wallet%2FX?tab=tokens"]) {
      const { statusCode, headers, body } = await app.inject(path);
      expect([statusCode, headers["content-type"], headers["cache-control"], body]).toEqual([
        ...[200, "text/html; charset=utf-8", "no-cache", PAGE],
      ]);
    }
    const script = await app.inject("/assets/index-abc123.js");
    expect([script.body, script.headers["cache-control"]]).toEqual([SCRIPT, "public, max-age=31536000, immutable"]);
    const zipped = await app.inject({ url: "/assets/index-abc123.js", headers: { "accept-encoding": "gzip" } });
    expect([zipped.headers["content-encoding"], zipped.headers["content-type"]]).toEqual([
      ...["gzip", "application/javascript; charset=utf-8"],
    ]);
    // A script of a former version is not the document, which would be taken for a script.
    expect((await app.inject("/assets/index-former.js")).statusCode).toBe(404);
    expect((await app.inject("/api/v1/nothing")).json().code).toBe("not_found");
    expect((await app.inject({ method: "POST", url: "/customers" })).statusCode).toBe(404);
    expect((await app.inject("/..%2f..%2fetc%2fpasswd")).body).not.toMatch(/root:/);
  });

  test("come with what keeps a page from loading or sending anything elsewhere, as all answers do", async () => {
    const { app } = await startStaffApi({ consoleFolder: builtConsole() });
    for (const path of ["/", "/assets/index-abc123.js", "/api/v1/session", "/healthz", "/assets/none.js"]) {
      const { headers } = await app.inject(path);
      const policy = String(headers["content-security-policy"]).split("; ");
      expect(policy, path).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]),
      );
      expect(policy).toEqual(
        expect.arrayContaining(["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]),
      );
      expect(policy.filter((rule) => /unsafe|http|\*/.test(rule))).toEqual(["style-src 'self' 'unsafe-inline'"]);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    }
    expect((await app.inject("/api/v1/session")).headers["cache-control"]).toBe("no-store");
  });
});

test("where the console is not built there is the API, and nothing else", async () => {
  const api = await startStaffApi({ consoleFolder: join(temporaryFolder(), "none") });
  for (const path of ["/", "/customers"]) expect((await api.app.inject(path)).statusCode).toBe(404);
  expect((await api.call("GET /session")).status).toBe(200);
  expect((await api.app.inject("/healthz")).json()).toEqual({ status: "ok" });
});

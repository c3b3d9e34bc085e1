import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { startTestService } from "../../support/service.ts";

const GUIDES = ["/docs/partner-guide", "/docs/interface", "/docs/failures"];
const PAGES = ["/docs", "/docs/", "/docs/v1.0.1", "/docs/v1.0.0", ...GUIDES];

// The build does the same.
beforeAll(() => {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../../pages.mjs", import.meta.url))]);
});

describe("the documentation pages", () => {
  test.each(PAGES)("are whole, and load nothing from anywhere else: %s", async (url) => {
    const service = await startTestService();
    const page = await service.inject(url);
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const parts = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] as string);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts.filter((part) => part !== "data:,")) {
      const [path = "", anchor] = part.startsWith("#") ? [url, part.slice(1)] : part.split("#");
      expect(path).toMatch(/^\/docs$|^\/(?:docs|openapi)\/[a-z0-9.-]*$/);
      const { statusCode, body } = await service.inject(path);
      expect(statusCode, part).toBe(200);
      expect(body.length, part).toBeGreaterThan(100);
      if (anchor !== undefined) expect(body, part).toContain(`id="${anchor}"`);
    }
  });

  test("show the Markdown files whole, and lead to one another", async () => {
    const service = await startTestService();
    for (const url of GUIDES) {
      const { body } = await service.inject(url);
      const file = new URL(`../../../../../docs/${url.slice("/docs/".length)}.md`, import.meta.url);
      const source = readFileSync(file, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
      const headings = source.match(/^#+ /gm) ?? [];
      expect(body.match(/<h[1-6] id="/g)).toHaveLength(headings.length);
      for (const other of GUIDES.filter((each) => each !== url)) expect(body).toContain(`<a href="${other}`);
      expect(body).not.toContain(".md");
      expect(body).not.toContain("stateDiagram");
    }
    const { body: operations } = await service.inject("/docs");
    for (const url of GUIDES) expect(operations).toContain(`<a href="${url}">`);
  });

  test("call the service by its public URL and prefix in their examples", async () => {
    const local = "http://127.0.0.1:8080/staging/api/third-party";
    const plain = await startTestService();
    const service = await startTestService({ publicUrl: "https://topup.provider.example", prefix: "/api" });
    for (const url of ["/docs/partner-guide", "/docs/interface"]) {
      expect((await plain.inject(url)).body).toContain(`BASE=${local}`);
      const { body } = await service.inject(url);
      expect(body).not.toContain(local);
      expect(body).toContain("BASE=https://topup.provider.example/api");
    }
  });

  test("are linked in the OpenAPI documents, each operation to its own section", async () => {
    const service = await startTestService({ publicUrl: "https://topup.provider.example" });
    const { body: page } = await service.inject("/docs/interface");
    for (const version of ["v1.0.1", "v1.0.0"]) {
      const { externalDocs, paths, tags } = JSON.parse((await service.inject(`/openapi/${version}.json`)).body);
      expect(externalDocs.url).toBe("https://topup.provider.example/docs/partner-guide");
      for (const tag of tags) expect(tag.externalDocs.url).toBe("https://topup.provider.example/docs/failures");
      type Described = { readonly externalDocs: { readonly url: string } };
      for (const [path, { post, get }] of Object.entries<Record<string, Described>>(paths)) {
        const [address, anchor] = ((post ?? get) as Described).externalDocs.url.split("#");
        const section = post === undefined ? "/extension" : path;
        expect([address, `/${anchor}`]).toEqual(["https://topup.provider.example/docs/interface", section]);
        expect(page).toContain(`id="${anchor}"`);
      }
    }
  });

  test("forbid the browser to reach any other host", async () => {
    const service = await startTestService();
    for (const url of [...PAGES, "/docs/v1.0.1.js", "/docs/swagger-ui.css"]) {
      expect((await service.inject(url)).headers["content-security-policy"], url).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
  });

  test("forbid plain HTTP for a year if the public URL is https", async () => {
    const header = async (publicUrl: string) => {
      const service = await startTestService({ publicUrl });
      return (await service.inject("/docs")).headers["strict-transport-security"];
    };
    expect(await header("https://topup.provider.example")).toBe("max-age=31536000");
    expect(await header("http://topup.provider.example")).toBeUndefined();
  });

  test("show each version's document, ask no validator, and keep no access token", async () => {
    const service = await startTestService();
    for (const version of ["v1.0.1", "v1.0.0"]) {
      const { body } = await service.inject(`/docs/${version}.js`);
      expect(JSON.parse(/\((.*)\);/.exec(body)?.[1] ?? "")).toEqual({
        url: `/openapi/${version}.json`,
        dom_id: "#interface",
        deepLinking: true,
        validatorUrl: null,
        persistAuthorization: false,
      });
    }
  });

  test("are sent short to those who can read it, and not at all to those who have them", async () => {
    const service = await startTestService();
    for (const url of ["/docs", "/docs/swagger-ui-bundle.js", "/openapi/v1.0.0.json"]) {
      const plain = await service.inject(url);
      const zipped = await service.inject({ url, headers: { "accept-encoding": "br, gzip" } });
      expect(zipped.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(zipped.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect([plain, zipped].map(({ headers }) => headers["vary"])).toEqual(["accept-encoding", "accept-encoding"]);
      const again = await service.inject({ url, headers: { "if-none-match": String(plain.headers["etag"]) } });
      expect([again.statusCode, again.body]).toEqual([304, ""]);
      const other = await service.inject({ url, headers: { "if-none-match": '"other"' } });
      expect(other.statusCode).toBe(200);
    }
  });

  test.each([
    ...["/docs/nothing", "/docs/../package.json", "/docs/v1.0.2", "/openapi/v1.0.2.json", "/metrics"].map((url) => [
      "GET",
      url,
    ]),
    ...["/docs", "/openapi/v1.0.1.json", "/docs/swagger-ui.css"].map((url) => ["POST", url]),
  ] as ["GET" | "POST", string][])("answer %s %s with unknown_operation", async (method, url) => {
    const service = await startTestService();
    const { statusCode, headers, body } = await service.inject({
      method,
      url,
      ...(method === "POST" && { payload: {} }),
    });
    expect(statusCode).toBe(404);
    expect(headers["x-request-id"]).toBeTruthy();
    expect(JSON.parse(body)).toMatchObject({ success: false, code: "400ad003", body: { reason: "unknown_operation" } });
  });
});

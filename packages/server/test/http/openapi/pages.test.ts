import { describe, expect, test } from "vitest";
import { startTestService } from "../../support/service.ts";

describe("the documentation pages", () => {
  test("are whole, and load nothing from anywhere else", async () => {
    const service = await startTestService();
    const page = await service.inject("/docs");
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toContain("text/html");
    const parts = [...page.body.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] as string);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of parts) {
      expect(part).toMatch(/^\/docs\/static\/[a-z0-9.-]+$/);
      const { statusCode, body } = await service.inject(part);
      expect(statusCode, part).toBe(200);
      expect(body.length, part).toBeGreaterThan(100);
    }
  });

  test("forbid the browser to reach any other host", async () => {
    const service = await startTestService();
    for (const url of ["/docs", "/docs/", "/docs/static/swagger-initializer.js", "/docs/static/index.html"]) {
      const policy = (await service.inject(url)).headers["content-security-policy"] as string;
      const sources = policy.split("; ").flatMap((directive) => directive.split(" ").slice(1));
      expect(policy, url).toContain("default-src 'none'");
      expect([...new Set(sources)].sort()).toEqual(["'none'", "'self'", "'unsafe-inline'", "data:"]);
      expect(policy).toContain("script-src 'self';");
    }
  });

  test("show the documents of both versions, and ask no validator", async () => {
    const service = await startTestService();
    const { body } = await service.inject("/docs/static/swagger-initializer.js");
    expect(body).toContain(
      '{"name":"v1.0.1","url":"../openapi/v1.0.1.json"},{"name":"v1.0.0","url":"../openapi/v1.0.0.json"}',
    );
    expect(body).toContain('"validatorUrl":null');
    expect((await service.inject("/docs/json")).json()).toEqual((await service.inject("/openapi/v1.0.1.json")).json());
  });

  test.each([
    "/docs/static/nothing",
    "/docs/static/%00",
    "/docs/static/%ff",
    "/docs/static/%2e%2e/%2e%2e/package.json",
    "/docs/static/../../package.json",
    "/docs/nothing",
    "/openapi",
    "/openapi/v1.0.2.json",
    "/openapi/..%2f",
  ])("say of %s that it is not there, in the envelope", async (url) => {
    const service = await startTestService();
    const { statusCode, headers, body } = await service.inject({ method: "GET", url });
    expect(statusCode).toBe(404);
    expect(headers["x-request-id"]).toBeTruthy();
    expect(JSON.parse(body)).toMatchObject({ success: false, code: "400ad003", body: { reason: "unknown_operation" } });
  });

  test("are not to be written to", async () => {
    const service = await startTestService();
    for (const url of ["/docs", "/openapi/v1.0.1.json", "/docs/static/swagger-ui.css"]) {
      const { statusCode, body } = await service.inject({ method: "POST", url, payload: {} });
      expect(statusCode).toBe(404);
      expect(JSON.parse(body).body.reason).toBe("unknown_operation");
    }
  });
});

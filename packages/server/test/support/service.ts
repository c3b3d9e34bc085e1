import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type OpenOptions, openTestService, type TestService } from "./open-service.ts";

export * from "./open-service.ts";

/** The whole service on a database of its own, closed and gone after the test. */
export async function startTestService(options: Partial<OpenOptions> = {}): Promise<TestService> {
  const path = options.openStore === undefined ? join(temporaryFolder(), "topupd.db") : "";
  const service = await openTestService({ path, ...options });
  onTestFinished(() => service.close());
  return service;
}

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "topupd-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

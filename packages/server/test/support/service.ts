import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type OpenOptions, openTestService, type TestService } from "./open-service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export * from "./open-service.ts";
export { temporaryFolder };

/** The whole service on a database of its own, closed and gone after the test. */
export async function startTestService(options: Partial<OpenOptions> = {}): Promise<TestService> {
  const path = options.openStore === undefined ? join(temporaryFolder(), "topupd.db") : "";
  const service = await openTestService({ path, ...options });
  onTestFinished(() => service.close());
  return service;
}

/** One service for all tests of a file that change nothing by which another test could notice it. */
export function shareTestService(): () => TestService {
  const folder = mkdtempSync(join(tmpdir(), "topupd-test-"));
  let service: TestService;
  beforeAll(async () => {
    service = await openTestService({ path: join(folder, "topupd.db") });
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => service;
}

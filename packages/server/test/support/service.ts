import { join } from "node:path";
import { onTestFinished } from "vitest";
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

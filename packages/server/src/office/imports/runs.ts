import { RightsEnded, StoreUnavailable } from "../../store/errors.ts";
import type { ImportRun } from "../../store/staff.ts";
import type { Decider } from "../office.ts";
import { plainWords, Refused } from "../refused.ts";

type Report = NonNullable<ImportRun["report"]>;

/** Does an import, and records it unless it is a preview. Its audit entries have one reason, by which they are one import's. */
export async function recordRun<Of extends Decider, Answer>(
  of: Of,
  run: Pick<ImportRun, "kind" | "environment" | "file"> & { readonly asOf?: string | undefined },
  work: (of: Of) => Promise<{ readonly answer: Answer; readonly report: Report }>,
): Promise<Answer> {
  if (of.isPreview) return (await work(of)).answer;
  const { clock, by } = of;
  const { importRuns } = of.store;
  const id = await importRuns.begin({ asOf: undefined, ...run, author: by.author, startedAt: clock() });
  const end = (outcome: ImportRun["outcome"], { report, problem }: { report?: Report; problem?: string | undefined }) =>
    importRuns.end(id, { endedAt: clock(), outcome, report, problem });
  const { answer, report } = await work({ ...of, by: { ...by, reason: `import ${id}: ${run.file}` } }).catch(
    async (error: unknown) => {
      const isRefused = error instanceof Refused && error.code === "invalid";
      // The caller gets the error in any case.
      await end(isRefused ? "refused" : "failed", { problem: failureWords(error) }).catch(() => {});
      throw error;
    },
  );
  await end("done", { report });
  return answer;
}

/** Why an import failed, in words; undefined if the error is a fault of topupd. */
export function failureWords(error: unknown): string | undefined {
  if (error instanceof Refused) return plainWords(error);
  if (error instanceof RightsEnded) return error.message;
  return error instanceof StoreUnavailable ? "the database was not available" : undefined;
}

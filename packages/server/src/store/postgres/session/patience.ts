import { StoreUnavailable } from "../../errors.ts";

/**
 * What `work` comes to, unless that takes longer than `ms` milliseconds. Nothing ends the work itself.
 * @throws StoreUnavailable with `why`, where it takes longer.
 */
export async function within<Result>(ms: number, work: Promise<Result>, why: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(why)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

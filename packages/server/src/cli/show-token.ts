import { CommandFailed, type Runtime } from "./runtime.ts";

/**
 * Prints what is printed once and kept nowhere.
 * @param text holds the token.
 * @param remains what else there is to know where it cannot be shown.
 * @throws CommandFailed where stdout does not take it, or nobody reads it: then the token holds, and nobody has it.
 */
export async function showToken(runtime: Runtime, id: string, text: string, remains = ""): Promise<void> {
  const why = await whyUnshown(runtime, text);
  if (why === undefined) return;
  throw new CommandFailed(
    `the token ${id} was made and could not be shown: ${why}. Revoke it with topupd token revoke ${id}, and issue another with topupd token issue${remains}`,
  );
}

async function whyUnshown(runtime: Runtime, text: string): Promise<string | undefined> {
  try {
    return (await runtime.streamOut(once(text))) ? undefined : "nobody reads stdout";
  } catch (error) {
    if (error instanceof CommandFailed) return error.message;
    throw error;
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { historyLine } from "../support/history-line.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** What a command asks a store to change. */
const CHANGES = new Set([
  "reverse",
  "grantGoodwill",
  "takeBackGoodwill",
  "revokeAccessToken",
  "rotateCheckoutSecret",
  "recordPruned",
]);

/** A store that cannot be reached any more as soon as it has changed something. */
function lostAfterChange<Part extends object>(part: Part, state = { isLost: false }): Part {
  return new Proxy(part, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name === "provider" || name === "close") return typeof value === "function" ? value.bind(target) : value;
      if (typeof value === "object" && value !== null) return lostAfterChange(value, state);
      if (typeof value !== "function") return value;
      return async (...given: readonly unknown[]) => {
        if (state.isLost) throw new StoreUnavailable("the connection was lost");
        const answer: unknown = await value.apply(target, given);
        if (CHANGES.has(String(name))) state.isLost = true;
        return answer;
      };
    },
  });
}

async function lineThatIsLost() {
  let isToBeLost = false;
  const line = await historyLine(() => {
    const database = makeSqliteDatabase();
    const open = async (...options: Parameters<typeof database.open>): Promise<Store> => {
      const store = await database.open(...options);
      return isToBeLost ? lostAfterChange(store) : store;
    };
    return { ...database, open };
  });
  return { line, lose: () => (isToBeLost = true) };
}

test.each([
  ["subscription grant internet sita --days 3 --reason sorry", "goodwill"],
  ["secret rotate", "sealing"],
  ["prune --older-than 40d --clock-is-right", "gone"],
])("%s says what was done, though nothing can be read after it", async (words) => {
  const { line, lose } = await lineThatIsLost();
  lose();
  const { code, stdout, stderr } = await line.run(...words.split(" "));
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("lost") });
  expect(stdout).not.toBe("");
});

test("what takes something back says what was done, though nothing can be read after it", async () => {
  const { line, lose } = await lineThatIsLost();
  await line.run("subscription", "grant", "internet", "sita", "--days", "3", "--reason", "sorry");
  const issued = await line.run(
    "token",
    "issue",
    "--partner",
    "Blue Wallet of the Trade Unions",
    "--environment",
    "trial",
    "--json",
  );
  const { id } = JSON.parse(issued.stdout) as { id: string };
  const { stdout } = await line.run("transaction", "list", "--req-id", "sita", "--json");
  const { txnId } = JSON.parse(stdout.split("\n")[0] ?? "") as { txnId: string };
  lose();
  for (const words of [
    ["subscription", "take-back", "internet", "sita", "--days", "2", "--reason", "a mistake"],
    ["transaction", "reverse", txnId, "--reason", "paid twice"],
    ["token", "revoke", id],
  ])
    expect(await line.run(...words)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("lost") });
});

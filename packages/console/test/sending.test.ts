import { expect, test } from "vitest";
import { ApiProblem } from "../src/api/problem.ts";
import type { Receipt, SaleOutcome } from "../src/counter/counter-api.d.ts";
import { sellOnce } from "../src/counter/sending.ts";

const RECEIPT = { txnId: "1" } as Receipt;
const SOLD: SaleOutcome = { state: "sold", receipt: RECEIPT };
const OPEN: SaleOutcome = { state: "open", receipt: null };
const NEVER: SaleOutcome = { state: "never", receipt: null };
const problemOf = (status: number) => new ApiProblem({ type: "", title: "", status, code: "" });

/** Sells with these answers, one after another. A number is the status of a problem. */
async function sell(answers: readonly (Receipt | SaleOutcome | number)[]) {
  const asked: string[] = [];
  const rest = [...answers];
  const answer = (what: string) => async (): Promise<never> => {
    asked.push(what);
    const next = rest.shift();
    if (next === undefined) throw new Error("nothing more is to be asked");
    if (typeof next === "number") throw problemOf(next);
    return next as never;
  };
  const outcome = await sellOnce({
    send: answer("sell"),
    look: answer("look"),
    wait: async (ms) => void asked.push(String(ms)),
    onLost: () => asked.push("lost"),
  }).catch((error: ApiProblem) => error.status);
  return { outcome, asked: asked.join(" ") };
}

test("a sale with an answer is sent once", async () => {
  expect(await sell([RECEIPT])).toEqual({ outcome: SOLD, asked: "sell" });
});

test("a lost answer is asked for until there is one, with longer and longer pauses", async () => {
  expect(await sell([0, 0, 503, 500, 0, 504, 0, SOLD])).toEqual({
    outcome: SOLD,
    asked: "sell lost 500 look 1000 look 2000 look 4000 look 8000 look 8000 look 8000 look",
  });
});

test("a sale that is open is sent again; one that will never be is not", async () => {
  expect(await sell([0, OPEN, RECEIPT])).toEqual({ outcome: SOLD, asked: "sell lost 500 look sell" });
  expect(await sell([0, OPEN, 503, NEVER])).toEqual({
    outcome: NEVER,
    asked: "sell lost 500 look sell lost 1000 look",
  });
});

test("a refusal of the sale or of the question ends it", async () => {
  expect(await sell([409])).toEqual({ outcome: 409, asked: "sell" });
  expect(await sell([0, 401])).toEqual({ outcome: 401, asked: "sell lost 500 look" });
});

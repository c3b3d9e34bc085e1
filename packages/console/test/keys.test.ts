import { describe, expect, test } from "vitest";
import { RequestKeys } from "../src/api/keys.ts";
import { ApiProblem } from "../src/api/problem.ts";

const UNREACHABLE = 0;

describe("the keys of changing requests", () => {
  test.each([
    { what: "gets no answer", status: UNREACHABLE, code: "unreachable" },
    { what: "fails", status: 503, code: "unavailable" },
    { what: "is cut off", status: 409, code: "answer_unknown" },
  ])("stay while a request $what, so that it is done once", async ({ status, code }) => {
    const { sent, keys } = recordingKeys();
    await refused(keys, { days: 3 }, status, code);
    await keys.send({ days: 3 }, async (key) => sent.push(key));
    await keys.send({ days: 3 }, async (key) => sent.push(key));
    expect(sent).toEqual(["key 1", "key 2"]);
  });

  test("are new after a refusal, and for another request", async () => {
    const { sent, keys } = recordingKeys();
    await refused(keys, { days: 3 }, 422, "invalid");
    await keys.send({ days: 3 }, async (key) => sent.push(key));
    await refused(keys, { days: 4 }, UNREACHABLE, "unreachable");
    await keys.send({ days: 5 }, async (key) => sent.push(key));
    expect(sent).toEqual(["key 2", "key 4"]);
  });
});

function recordingKeys() {
  let made = 0;
  return {
    sent: [] as string[],
    keys: new RequestKeys(() => {
      made += 1;
      return `key ${made}`;
    }),
  };
}

async function refused(keys: RequestKeys, request: unknown, status: number, code: string): Promise<void> {
  const problem = new ApiProblem({ type: "about:blank", title: code, status, code });
  await expect(keys.send(request, () => Promise.reject(problem))).rejects.toBe(problem);
}

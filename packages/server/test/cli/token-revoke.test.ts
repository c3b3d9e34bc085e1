import { describe, expect, test } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { addWallet, fillDatabase, onlyTokenId, SITA } from "../support/provider-files.ts";

/** How soon a revocation holds everywhere. */
const WITHIN_MS = 1000;

describe("topupd token revoke", () => {
  test("holds within a second in services that are running on the same file", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const services = [await line.start("serve"), await line.start("serve")];
    const codes = async () => {
      const answers = services.map(({ url }) =>
        callOperation(url, "get-customer-information", token, { code: SITA.cuid }),
      );
      return (await Promise.all(answers)).map(({ status, json }) => `${status} ${json.code}`);
    };
    expect(await codes()).toEqual(["200 400aa010", "200 400aa010"]);

    const id = (await onlyTokenId(line)) as string;
    await line.mustRun("token", "revoke", id);
    const revokedBy = Date.now() + WITHIN_MS;
    let seen = await codes();
    while (seen.some((code) => code !== "401 400ac004") && Date.now() < revokedBy) seen = await codes();
    expect(seen).toEqual(["401 400ac004", "401 400ac004"]);
  });

  test("leaves the partner's other token, so that tokens are changed without a gap", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const id = (await onlyTokenId(line)) as string;
    const issued = await line.mustRun("token", "issue", "--partner", "wallet", "--environment", "production");
    await line.mustRun("token", "revoke", id);
    const { url } = await line.start("serve");
    const answer = await callOperation(url, "get-customer-information", issued.trim(), { code: SITA.cuid });
    expect(answer.status).toBe(200);
  });

  test("shows the token as revoked, and the first time for ever", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const id = (await onlyTokenId(line)) as string;
    const first = JSON.parse(await line.mustRun("token", "revoke", id, "--json"));
    expect(first).toMatchObject({ id, partner: "wallet", state: "revoked", revokedAt: expect.any(String) });
    expect(JSON.parse(await line.mustRun("token", "revoke", id, "--json"))).toEqual(first);
    expect(await line.mustRun("token", "revoke", id)).toMatch(/^ID .*\ntok_[0-9a-f]+ +wallet +production +revoked /);
  });

  test("of an id that is not there fails", async () => {
    const line = commandLine();
    await addWallet(line);
    expect(await line.run("token", "revoke", "tok_1")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no token with this id: see topupd token list\n",
    });
  });
});

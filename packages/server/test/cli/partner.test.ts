import { describe, expect, test } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { addWallet, fillDatabase, SITA } from "../support/provider-files.ts";

const NOW = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

describe("topupd partner", () => {
  test("add shows the partner that was added", async () => {
    const line = commandLine();
    const added = await line.run("partner", "add", "wallet", "--json");
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(added.stdout)).toEqual({
      id: 1,
      name: "wallet",
      status: "active",
      createdAt: NOW,
      allowedAddresses: null,
    });
    const table = await line.mustRun("partner", "add", "The Bank of आज");
    expect(table).toMatch(/^ID {2}NAME +STATUS {2}CREATED +ALLOWED ADDRESSES\n2 {3}The Bank of आज +active {2}\d{4}-/);
  });

  test("add refuses a name that is taken, and leaves one partner", async () => {
    const line = commandLine();
    await addWallet(line);
    expect(await line.run("partner", "add", "wallet", "--json")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is a partner named wallet already\n",
    });
    expect(JSON.parse(await line.mustRun("partner", "list", "--json"))).toHaveLength(1);
  });

  test("list shows all partners, as a table or as JSON", async () => {
    const line = commandLine();
    await addWallet(line);
    await line.mustRun("partner", "add", "bank");
    await line.mustRun("partner", "suspend", "bank");
    const table = await line.run("partner", "list");
    expect(table).toMatchObject({ code: 0, stderr: "" });
    expect(table.stdout.split("\n").map((row) => row.split(/ +/).slice(0, 3).join(" "))).toEqual([
      "ID NAME STATUS",
      "1 wallet active",
      "2 bank suspended",
      "",
    ]);
    expect(JSON.parse(await line.mustRun("partner", "list", "--json"))).toEqual([
      { id: 1, name: "wallet", status: "active", createdAt: NOW, allowedAddresses: null },
      { id: 2, name: "bank", status: "suspended", createdAt: NOW, allowedAddresses: null },
    ]);
  });

  test("list of no partners is an empty list", async () => {
    const line = commandLine();
    await line.run("import", "catalogue", "missing.ndjson");
    expect(await line.mustRun("partner", "list", "--json")).toBe("[]\n");
  });

  test("suspend and resume hold at once in a service that is running", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const call = async () => {
      const { status, json } = await callOperation(url, "get-customer-information", token, { code: SITA.cuid });
      return [status, json.code];
    };
    expect(await call()).toEqual([200, "400aa010"]);
    const suspended = JSON.parse(await line.mustRun("partner", "suspend", "wallet", "--json"));
    expect(suspended).toEqual({ id: 1, name: "wallet", status: "suspended", createdAt: NOW, allowedAddresses: null });
    expect(await call()).toEqual([403, "400ac005"]);
    const resumed = JSON.parse(await line.mustRun("partner", "resume", "wallet", "--json"));
    expect(resumed).toEqual({ ...suspended, status: "active" });
    expect(await call()).toEqual([200, "400aa010"]);
  });

  test("suspending twice is no error", async () => {
    const line = commandLine();
    await addWallet(line);
    const first = await line.mustRun("partner", "suspend", "wallet", "--json");
    expect(await line.mustRun("partner", "suspend", "wallet", "--json")).toBe(first);
  });

  test.each(["suspend", "resume"])("%s of a partner that is not there fails", async (verb) => {
    const line = commandLine();
    await addWallet(line);
    expect(await line.run("partner", verb, "bank")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no partner named bank\n",
    });
  });

  test("several that are added to a database that is not there yet are all added", async () => {
    const line = commandLine();
    const names = ["one", "two", "three", "four"];
    const added = await Promise.all(names.map((name) => line.run("partner", "add", name, "--json")));
    expect(added.map(({ code, stderr }) => ({ code, stderr }))).toEqual(names.map(() => ({ code: 0, stderr: "" })));
    const listed = JSON.parse(await line.mustRun("partner", "list", "--json")) as { id: number; name: string }[];
    expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect((await line.run("check")).code).toBe(0);
  });
});

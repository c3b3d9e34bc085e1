import { describe, expect, test } from "vitest";
import { type CommandLine, commandLine } from "../support/command-line.ts";
import { addWallet, fillDatabase } from "../support/provider-files.ts";
import { PREFIX } from "../support/service.ts";

async function withPartner(): Promise<CommandLine> {
  const line = commandLine();
  await addWallet(line);
  return line;
}

describe("topupd partner allow", () => {
  test("sets the list in its canonical form, and list shows it until --any lifts it", async () => {
    const line = await withPartner();
    const addresses = ["203.0.113.0/24", "2001:0DB8::/32", "198.51.100.7/32", "198.51.100.7"];
    const words = addresses.flatMap((address) => ["--address", address]);
    const allowed = JSON.parse(await line.mustRun("partner", "allow", "wallet", ...words, "--json"));
    const ranges = ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7"];
    expect(allowed).toMatchObject({ name: "wallet", allowedAddresses: ranges });
    expect(JSON.parse(await line.mustRun("partner", "list", "--json"))).toEqual([allowed]);
    expect(await line.mustRun("partner", "list")).toMatch(
      /^ID .* ALLOWED ADDRESSES\n1 +wallet +active .*Z {2}203\.0\.113\.0\/24 2001:db8::\/32 198\.51\.100\.7\n$/,
    );
    const less = JSON.parse(await line.mustRun("partner", "allow", "wallet", "--address", "203.0.113.7", "--json"));
    expect(less.allowedAddresses).toEqual(["203.0.113.7"]);
    expect(await line.mustRun("partner", "allow", "wallet", "--any")).toMatch(/Z {2}any\n$/);
  });

  test.each([
    [[], "say either --address, once or more, or --any"],
    [["--any", "--address", "203.0.113.7"], "say either --address, once or more, or --any"],
    [
      ["--address", "203.0.113.7/24"],
      '--address must be 203.0.113.0/24 where that range is meant, or 203.0.113.7 alone, but is "203.0.113.7/24"',
    ],
    [["--address", "0.0.0.0/0"], '--address must not be all addresses there are, but is "0.0.0.0/0": use --any'],
    [
      ["--address", "203.0.113.7", "--address", "office\u001b[2J"],
      '--address must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32, but is "office\\u001b[2J"',
    ],
    [
      Array.from({ length: 101 }, (_, index) => ["--address", `203.0.113.${index}`]).flat(),
      "--address may be given 100 times: name larger ranges",
    ],
  ])("refuses what cannot be meant", async (words, said) => {
    const line = await withPartner();
    expect(await line.run("partner", "allow", "wallet", ...words)).toEqual({
      code: 2,
      stdout: "",
      stderr: `topupd: ${said}\n`,
    });
    expect(JSON.parse(await line.mustRun("partner", "list", "--json"))).toMatchObject([{ allowedAddresses: null }]);
  });

  test("goes by what a trusted proxy says, where serve is told of one", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    await line.mustRun("partner", "allow", "wallet", "--address", "203.0.113.0/24");
    const statusFrom = async (url: string, address: string) => {
      const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": address };
      return (await fetch(`${url}${PREFIX}/v1.0.1/txn-status`, { method: "POST", headers })).status;
    };
    const [bare, behind] = [
      await line.start("serve"),
      await line.start("serve", "--trusted-proxies", "10.0.0.0/8, 127.0.0.1"),
    ];
    // Whoever is let in is told that there is no body.
    expect(await statusFrom(behind.url, "203.0.113.9")).toBe(415);
    expect(await statusFrom(behind.url, "203.0.113.9, 198.51.100.7")).toBe(403);
    expect(await statusFrom(bare.url, "203.0.113.9")).toBe(403);
  });

  test("of a partner that is not there fails", async () => {
    const line = await withPartner();
    expect(await line.run("partner", "allow", "bank", "--any")).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: there is no partner named bank\n",
    });
  });
});

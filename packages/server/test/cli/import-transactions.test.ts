import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { listPackages } from "../../src/operations/list-packages.ts";
import type { StaffPorts } from "../../src/operations/ports.ts";
import { reverseTransaction } from "../../src/operations/reverse-transaction.ts";
import { topUp } from "../../src/operations/top-up.ts";
import { type CommandLine, callOperation, commandLine } from "../support/command-line.ts";
import { fillDatabase, inDatabase, SITA_NET } from "../support/provider-files.ts";

const ELSEWHERE = ["--database", "sqlite:./other.db"];
const UDF = ['=1+1, "q"', "'+9\\ é नेपाली 🙂", "@,;'", "2026-11"] as const;

/** Tops Sita's connection up with each udf1, and takes the second back. @returns the checkoutIds. */
async function topUpAll(ports: StaffPorts, wallet: Partner): Promise<string[]> {
  const caller = { partnerId: wallet.id, partnerName: wallet.name, environment: "production" } as const;
  const key = { ...SITA_NET, service: "internet" } as const;
  const checkoutIds: string[] = [];
  for (const udf1 of UDF) {
    const listed = await listPackages(ports, caller, key, 0);
    if (!listed.ok) throw new Error(listed.refusal);
    const { checkoutId } = listed.value;
    const made = await topUp(ports, caller, { ...key, checkoutId, bouquetId: "NET-3M", amount: 322050n, udf1 });
    if (!made.ok) throw new Error(made.refusal);
    checkoutIds.push(checkoutId);
  }
  const id = checkoutIds[1] as string;
  await reverseTransaction(ports, { id, reason: '=twice, "sorry" é', partnerId: undefined, amount: undefined });
  return checkoutIds;
}

/** A provider with a history, and a new database beside it in which its partner has another number. */
async function provider() {
  const line = commandLine();
  const token = await fillDatabase(line);
  const checkoutIds = await inDatabase(line, async (ports) =>
    topUpAll(ports, (await ports.store.findPartner("wallet")) as Partner),
  );
  await line.mustRun("partner", "add", "first here", ...ELSEWHERE);
  await line.mustRun("partner", "add", "wallet", ...ELSEWHERE);
  return { line, token, checkoutIds };
}

const rowsFrom = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((row) => JSON.parse(row) as Record<string, unknown>);

const rowsIn = ({ folder }: CommandLine, name: string) => rowsFrom(readFileSync(join(folder, name), "utf8"));

/** What a row must not be, and what is said of it. */
const BAD: readonly (readonly [changes: Record<string, unknown>, said: string])[] = [
  [{ partner: "nobody" }, "partner is not known here: add it with topupd partner add"],
  [{ environment: "trial" }, "environment must be production, or be imported with"],
  [{ checkoutId: "order-17" }, "checkoutId must be a checkoutId of a topupd"],
  [{ checkoutId: randomBytes(48).toString("base64url") }, "checkoutId was not issued for this customer"],
  [{ reqId: "another" }, "reqId is not the connection of this service that the checkoutId was issued for"],
  [{ service: "iptv" }, "reqId is not the connection of this service that the checkoutId was issued for"],
  [{ txnId: "17" }, "txnId must be a txnId of a topupd"],
  [{ txnId: `0${"1".repeat(25)}` }, "txnId was made at another time"],
  [{ txnDate: "2020-01-01 00:00:00" }, "txnDate is not the time at in the time zone"],
  [{ at: "2999-01-01T00:00:00.000Z" }, "at is in the future"],
  [{ at: "yesterday" }, "at must be a time such as"],
  [{ amount: "1,130" }, "amount must be a plain decimal"],
  [{ amount: "1.005" }, "amount must be a plain decimal"],
  [{ amount: "0" }, "amount must be more than zero"],
  [{ status: "refunded" }, "status must be one of"],
  [{ reversedBy: "maya" }, 'reversedBy must be empty where status is "success"'],
  [{ status: "reversed" }, "reversedAt is required where status is"],
  [{ tip: "1" }, "tip is not a known field"],
  [{ udf1: "x".repeat(31) }, "udf1 must have at most 30 characters"],
  [{ cuid: null }, "cuid must be a string"],
];

describe("topupd import transactions", () => {
  test.each(["ndjson", "csv"])(
    "of %s gives the same history elsewhere, before or after the customers",
    async (format) => {
      const { line, checkoutIds } = await provider();
      const day = new Date().toISOString().slice(0, 10);
      for (const what of ["catalogue", "customers", "transactions"])
        await line.mustRun("export", what, "--output", `${what}.${format}`);
      const before = readFileSync(join(line.folder, `transactions.${format}`), "utf8");
      expect(await line.mustRun("import", "transactions", `transactions.${format}`, ...ELSEWHERE)).toBe(
        "4 accepted, 0 rejected\n4 added, 0 changed, 0 unchanged\n",
      );
      for (const what of ["catalogue", "customers"])
        await line.mustRun("import", what, `${what}.${format}`, ...ELSEWHERE);
      expect(await line.mustRun("import", "transactions", `transactions.${format}`, ...ELSEWHERE)).toBe(
        "4 accepted, 0 rejected\n0 added, 0 changed, 4 unchanged\n",
      );
      expect(await line.mustRun("export", "transactions", "--format", format, ...ELSEWHERE)).toBe(before);
      const same = [
        ["export", "customers"],
        ["customer", "show", SITA_NET.cuid, "--json"],
        ["report", "settlement", "--partner", "wallet", "--from", day, "--to", day, "--csv"],
        ["transaction", "list", "--status", "reversed", "--json"],
      ];
      for (const words of same) expect(await line.mustRun(...words, ...ELSEWHERE)).toBe(await line.mustRun(...words));
      const shown = JSON.parse(
        await line.mustRun("transaction", "show", checkoutIds[1] as string, "--json", ...ELSEWHERE),
      );
      expect(shown).toMatchObject({ status: "reversed", imported: true, reversal: { reason: '=twice, "sorry" é' } });
      expect(await line.mustRun("why", "internet", "sita", ...ELSEWHERE)).toMatch(
        /recorded at another topupd[\s\S]*topupd\s+transaction\s+list\s+--cuid\s+\S+\n/,
      );
      expect(await line.mustRun("check", ...ELSEWHERE)).not.toMatch(/^wrong/m);
    },
  );

  test("answers partners as the former topupd did, and never tops up again", async () => {
    const { line, token, checkoutIds } = await provider();
    for (const what of ["catalogue", "customers", "transactions"]) {
      await line.mustRun("export", what, "--output", `${what}.ndjson`);
      await line.mustRun("import", what, `${what}.ndjson`, ...ELSEWHERE);
    }
    const tokenOf = (partner: string) =>
      line.mustRun("token", "issue", "--partner", partner, "--environment", "production", ...ELSEWHERE);
    const [others, theirs] = [(await tokenOf("first here")).trim(), (await tokenOf("wallet")).trim()];
    const former = await line.start("serve");
    const present = await line.start("serve", ...ELSEWHERE);
    const ends = async () => JSON.parse(await line.mustRun("customer", "show", SITA_NET.cuid, "--json", ...ELSEWHERE));
    const { connections } = await ends();
    for (const checkoutId of checkoutIds) {
      const request = { ...SITA_NET, checkoutId, bouquetId: "NET-3M", amt: "3220.50" };
      for (const [operation, body] of [
        ["txn-status", { checkoutId }],
        ["subscription-package-topup", request],
        ["subscription-package-topup", { ...request, amt: "1130" }],
      ] as const) {
        const was = await callOperation(former.url, operation, token, body);
        const is = await callOperation(present.url, operation, theirs, body);
        const { requestId: _, ...said } = was.json.body;
        expect({ status: is.status, code: is.json.code, body: is.json.body }).toMatchObject({
          ...{ status: was.status, code: was.json.code, body: said },
        });
        expect(is.headers.get("idempotent-replayed")).toBe(was.headers.get("idempotent-replayed"));
        const stranger = await callOperation(present.url, operation, others, body);
        expect([stranger.status, stranger.json.body.reason]).toEqual([404, "checkout_unknown"]);
      }
    }
    expect((await ends()).connections).toEqual(connections);
    for (const { signal, ended } of [former, present]) {
      signal("SIGTERM");
      await ended;
    }
    expect(await line.mustRun("check", ...ELSEWHERE)).not.toMatch(/^wrong/m);
  });

  test("takes a reversal over that came later, and staff can reverse one here", async () => {
    const { line, checkoutIds } = await provider();
    for (const what of ["catalogue", "customers", "transactions"]) {
      await line.mustRun("export", what, "--output", `${what}.ndjson`);
      await line.mustRun("import", what, `${what}.ndjson`, ...ELSEWHERE);
    }
    const [first, , third] = checkoutIds as [string, string, string];
    await line.mustRun("transaction", "reverse", first, "--reason", "late");
    await line.mustRun("export", "transactions", "--output", "later.ndjson");
    expect(await line.mustRun("import", "transactions", "later.ndjson", "--dry-run", ...ELSEWHERE)).toMatch(
      /^line 4: \w{26} changed\n4 accepted, 0 rejected\nit would be: 0 added, 1 changed, 3 unchanged\n$/,
    );
    expect(await line.mustRun("import", "transactions", "later.ndjson", ...ELSEWHERE)).toMatch(/1 changed/);
    expect(await line.mustRun("export", "transactions", ...ELSEWHERE)).toBe(
      readFileSync(join(line.folder, "later.ndjson"), "utf8"),
    );
    const reversed = await line.run("transaction", "reverse", third, "--reason", "paid twice", ...ELSEWHERE);
    expect(reversed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^reversed {4}\w{26}\n/) });
    expect(reversed.stderr).toMatch(/The end has not moved: this top-up was recorded at another topupd/);
    expect(await line.mustRun("check", ...ELSEWHERE)).not.toMatch(/^wrong/m);
  });

  test("refuses a line for whatever is wrong with it, and writes nothing of the file", async () => {
    const { line } = await provider();
    await line.mustRun("export", "transactions", "--output", "good.ndjson");
    const good = rowsIn(line, "good.ndjson");
    const file = line.ndjson("bad.ndjson", ...good, ...BAD.map(([changes]) => ({ ...good[0], ...changes })));
    const { code, stderr } = await line.run("import", "transactions", file, ...ELSEWHERE);
    expect(code).toBe(1);
    for (const [index, [, said]] of BAD.entries()) expect(stderr).toContain(`line ${good.length + 1 + index}: ${said}`);
    expect(stderr).toContain("nothing was written: mend these lines, or give --skip-invalid to leave them out");
    expect(await line.mustRun("export", "transactions", ...ELSEWHERE)).toBe("");
  });

  test("in a dry run that a bad line ends tells of no change, since there would be none", async () => {
    const { line } = await provider();
    const [good] = rowsFrom(await line.mustRun("export", "transactions"));
    line.ndjson("mixed.ndjson", good as object, { ...good, amount: "0" });
    const refused = await line.run("import", "transactions", "mixed.ndjson", "--dry-run", ...ELSEWHERE);
    expect(refused).toEqual({
      code: 1,
      stdout: "0 accepted, 1 rejected\nit would be: 0 added, 0 changed, 0 unchanged\n",
      stderr:
        "line 2: amount must be more than zero\n" +
        "topupd: nothing would be written: mend these lines, or give --skip-invalid to leave them out\n",
    });
    const taken = await line.run("import", "transactions", "mixed.ndjson", "--dry-run", "--skip-invalid", ...ELSEWHERE);
    expect(taken).toEqual({
      code: 0,
      stdout: `line 1: ${String(good?.["txnId"])} added\n1 accepted, 1 rejected\nit would be: 1 added, 0 changed, 0 unchanged\n`,
      stderr: "line 2: amount must be more than zero\n",
    });
  });

  test("says of a field that is missing or unreadable just that", async () => {
    const { line } = await provider();
    const { environment, amount, ...row } = rowsFrom(await line.mustRun("export", "transactions"))[0] ?? {};
    line.ndjson(
      "bad.ndjson",
      row,
      { ...row, environment, amount: "1,130" },
      { ...row, environment, amount, status: 1 },
    );
    const { code, stderr } = await line.run("import", "transactions", "bad.ndjson", "--skip-invalid", ...ELSEWHERE);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toEqual([
      "line 1: environment is required",
      "line 1: amount is required",
      "line 2: amount must be a plain decimal with at most 2 decimals, without sign, exponent or blanks",
      'line 3: status must be one of "success", "reversed"',
      "topupd: nothing was written: the file holds no good line",
    ]);
  });

  test("leaves bad lines out if told so, and names what contradicts the record", async () => {
    const { line } = await provider();
    await line.mustRun("export", "transactions", "--output", "good.ndjson");
    const [one, two, three] = rowsIn(line, "good.ndjson");
    line.ndjson("some.ndjson", one as object, { ...two, amount: "0" }, three as object, { ...three, udf1: "other" });
    const some = await line.run("import", "transactions", "some.ndjson", "--skip-invalid", "--json", ...ELSEWHERE);
    expect(some.code).toBe(0);
    expect(JSON.parse(some.stdout)).toMatchObject({
      ...{ accepted: 2, rejected: 2, added: 2, changed: 0, unchanged: 0 },
      refused: [
        { line: 2, problems: [{ field: "amount" }] },
        { line: 4, problems: [{ field: "udf1", problem: "is another than on record here" }] },
      ],
    });
    line.ndjson("clash.ndjson", one as object, { ...two, txnId: one?.["txnId"] });
    const clash = await line.run("import", "transactions", "clash.ndjson", ...ELSEWHERE);
    expect(clash.stderr).toContain("line 2: txnId is that of another top-up on record here");
    const known = await line.run("import", "transactions", "good.ndjson", "--dry-run", ...ELSEWHERE);
    expect(known.stdout).toContain("it would be: 2 added, 0 changed, 2 unchanged");
    expect((await line.mustRun("export", "transactions", ...ELSEWHERE)).trimEnd().split("\n")).toHaveLength(2);
  });

  test("tells a CSV's bad lines by their number, and refuses unknown columns", async () => {
    const { line } = await provider();
    await line.mustRun("export", "transactions", "--output", "good.csv");
    const text = readFileSync(join(line.folder, "good.csv"), "utf8");
    writeFileSync(join(line.folder, "bad.csv"), text.replace("3220.5,", "3220.505,"));
    const bad = await line.run("import", "transactions", "bad.csv", ...ELSEWHERE);
    expect(bad.stderr).toContain("line 2: amount must be a plain decimal with at most 2 decimals");
    writeFileSync(join(line.folder, "tip.csv"), text.replace("udf1,", "tip,"));
    const tip = await line.run("import", "transactions", "tip.csv", ...ELSEWHERE);
    expect(tip).toMatchObject({ code: 1, stderr: expect.stringContaining('but has "tip"') });
  });

  test("does not go with another currency or time zone", async () => {
    const { line } = await provider();
    await line.mustRun("export", "transactions", "--output", "good.ndjson");
    const there = ["--database", "sqlite:./kathmandu.db"];
    await line.mustRun(
      "partner",
      "add",
      "wallet",
      "--time-zone",
      "Asia/Kathmandu",
      "--currency-exponent",
      "0",
      ...there,
    );
    const { stderr } = await line.run("import", "transactions", "good.ndjson", ...there);
    expect(stderr).toContain("line 1: amount must be a plain decimal with at most 0 decimals");
    expect(stderr).toContain("line 1: txnDate is not the time at in the time zone of this database, Asia/Kathmandu");
  });

  test("fixes what times and amounts mean, as a catalogue does", async () => {
    const { line } = await provider();
    await line.mustRun("export", "transactions", "--output", "good.ndjson");
    await line.mustRun("import", "transactions", "good.ndjson", ...ELSEWHERE);
    const { code, stderr } = await line.run("partner", "add", "third", "--currency-exponent", "0", ...ELSEWHERE);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("was filled with 2") });
  });
});

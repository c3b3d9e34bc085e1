import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

const row = (code: string, name: string, more: object = {}) => ({ service: "tv", code, name, price: 450, ...more });

const WARNING =
  'warning: with another plan, a bouquet does not extend the subscriptions bought so far: their renewal begins a second subscription beside them; name the former plan in the row ("plan": "Famly TV") to keep them together\n';

describe("topupd import catalogue, of a name that is spelt anew", () => {
  test("warns that the bouquet goes to another plan, in a dry run and when it is done", async () => {
    const line = commandLine();
    const before = [row("TV-1M", "Famly TV (MONTHLY)"), row("KIDS-1M", "Kids [AddOn] (MONTHLY)")];
    await line.mustRun("import", "catalogue", line.ndjson("before.ndjson", ...before));
    const after = [row("TV-1M", "Family TV (MONTHLY)"), row("KIDS-1M", "Kids [AddOn] (MONTHLY)", { price: 1 })];
    const file = line.ndjson("after.ndjson", ...after);
    const stderr = `tv TV-1M: plan "Famly TV" -> "Family TV"\n${WARNING}`;
    expect(await line.run("import", "catalogue", file, "--dry-run")).toMatchObject({ code: 0, stderr });
    expect(await line.run("import", "catalogue", file, "--dry-run", "--json")).toMatchObject({ code: 0, stderr });
    expect(await line.run("import", "catalogue", file)).toMatchObject({ code: 0, stderr });
    expect(await line.run("import", "catalogue", file)).toMatchObject({ code: 0, stderr: "" });
  });

  test("says nothing where the row names the former plan, or only the period is another", async () => {
    const line = commandLine();
    const before = [row("TV-1M", "Famly TV (MONTHLY)"), row("TV-3M", "Famly TV (QUARTERLY)")];
    await line.mustRun("import", "catalogue", line.ndjson("before.ndjson", ...before));
    const after = [row("TV-1M", "Family TV (MONTHLY)", { plan: "Famly TV" }), row("TV-3M", "Famly TV (3 MONTHS)")];
    const done = await line.run("import", "catalogue", line.ndjson("after.ndjson", ...after));
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain("2 changed");
  });

  test("warns that a bouquet has become an add-on of its plan, or is none any more", async () => {
    const line = commandLine();
    const rows = (tv: string, kids: string) => [
      row("TV-1M", tv, { plan: "Family TV" }),
      row("KIDS-1M", kids, { plan: "Kids" }),
    ];
    const before = rows("Family TV (MONTHLY)", "Kids [AddOn] (MONTHLY)");
    await line.mustRun("import", "catalogue", line.ndjson("before.ndjson", ...before));
    const after = rows("Family TV [AddOn] (MONTHLY)", "Kids (MONTHLY)");
    const file = line.ndjson("after.ndjson", ...after);
    const dryRun = await line.run("import", "catalogue", file, "--dry-run");
    expect(dryRun.stdout).toContain("add-on no -> yes");
    const { code, stderr } = await line.run("import", "catalogue", file);
    expect([code, ...stderr.split("\n")]).toEqual([
      0,
      "tv TV-1M: no add-on -> an add-on",
      "tv KIDS-1M: an add-on -> none",
      expect.stringMatching(/^warning: a subscription is an add-on where the bouquet that renews it is one/),
      "",
    ]);
  });

  test("names ten such bouquets, and counts the others", async () => {
    const line = commandLine();
    const rows = (plan: string) =>
      Array.from({ length: 12 }, (_, index) => row(`TV-${index + 1}`, `${plan} (${index + 1} MONTHS)`));
    await line.mustRun("import", "catalogue", line.ndjson("before.ndjson", ...rows("Famly TV")));
    const { stderr } = await line.run("import", "catalogue", line.ndjson("after.ndjson", ...rows("Family TV")));
    const said = stderr.split("\n");
    expect(said[9]).toBe('tv TV-10: plan "Famly TV" -> "Family TV"');
    expect(said.slice(10).join("\n")).toBe(`and 2 more bouquets with another plan\n${WARNING}`);
  });
});

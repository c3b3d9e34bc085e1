import { expect, test } from "vitest";
import { kill } from "../campaign/kill.ts";
import { model } from "../campaign/model.ts";
import { race } from "../campaign/race.ts";
import { temporaryFolder } from "./support/service.ts";

/*
 * Short slices of the campaigns: the same code, the same promises. The long forms are
 * `npm run campaign -- race|kill|model --seed N --rounds N`.
 */

test("twenty callers on two processes with one checkoutId make one transaction and get twenty equal answers", async () => {
  await expect(race({ seed: 1, rounds: 25, cwd: temporaryFolder(), callers: 20 })).resolves.toContain("25 rounds");
}, 120_000);

test("no acknowledged top-up is lost or made twice when the service is killed twenty times under load", async () => {
  await expect(kill({ seed: 1, rounds: 20, cwd: temporaryFolder() })).resolves.toContain("20 kills");
}, 300_000);

test("the service agrees with a model of it on random stories", async () => {
  await expect(model({ seed: 1, rounds: 60, cwd: temporaryFolder() })).resolves.toContain("60 stories");
}, 120_000);

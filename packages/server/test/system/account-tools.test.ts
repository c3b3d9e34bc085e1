import { generate } from "otplib";
import { expect, test } from "vitest";
import { PasswordsBusy } from "../../src/domain/passwords.ts";
import { accountTools, HashQueue } from "../../src/system/account-tools.ts";
import { CHEAP } from "../support/office-line.ts";
import { seededRandom } from "../support/random.ts";

const NOW = Date.parse("2026-11-23T09:00:15Z");
const ports = { clock: () => NOW, random: seededRandom(3) };

test("a password is hashed with a salt of its own, at the cost that is kept beside it", async () => {
  const tools = accountTools(ports);
  const hashed = await tools.hashPassword("kettle orbit fjord");
  expect(hashed).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  const cheap = accountTools(ports, CHEAP);
  expect(await cheap.checkPassword("kettle orbit fjord", hashed, true)).toBe(true);
  const [one, other] = [await cheap.hashPassword("é"), await cheap.hashPassword("é")];
  expect(one).not.toBe(other);
  expect(await tools.checkPassword("e\u0301", one, true)).toBe(true);
  expect(await tools.checkPassword("e", one, true)).toBe(false);
});

test("a wrong password, and one of nobody, is refused at the full cost", async () => {
  const tools = accountTools(ports, { exponent: 12, blockSize: 8, parallel: 1 });
  const hashed = await tools.hashPassword("kettle orbit fjord");
  // CPU time, since the time of the clock depends on what else the machine does.
  const spent = async (of: string | undefined) => {
    const begun = process.cpuUsage();
    for (let index = 0; index < 5; index += 1) expect(await tools.checkPassword("kettle", of, true)).toBe(false);
    return process.cpuUsage(begun).user;
  };
  const [known, unknown] = [await spent(hashed), await spent(undefined)];
  expect(unknown).toBeGreaterThan(known / 3);
});

test("two passwords are hashed at a time, and 20 wait; more are refused", async () => {
  const queue = new HashQueue();
  const hashing: (() => void)[] = [];
  const hash = () => queue.run(() => new Promise<void>((resolve) => hashing.push(resolve)), true);
  const all = Array.from({ length: 22 }, hash);
  await expect(hash()).rejects.toThrow(PasswordsBusy);
  for (let done = 0; done < 22; done += 1) {
    await expect.poll(() => hashing.length).toBe(Math.min(done + 2, 22));
    hashing[done]?.();
    await all[done];
  }
  const tools = accountTools(ports, CHEAP);
  const flood = await Promise.allSettled(Array.from({ length: 30 }, () => tools.checkPassword("x", undefined, true)));
  expect(flood.filter(({ status }) => status === "rejected")).toHaveLength(8);
  expect(await tools.checkPassword("x", await tools.hashPassword("x"), true)).toBe(true);
});

test("a password from a known place waits for no stranger's", async () => {
  const queue = new HashQueue();
  const hashed: string[] = [];
  const hash = (of: string) =>
    queue.run(async () => {
      hashed.push(of);
    }, of === "known");
  const flood = Promise.allSettled(Array.from({ length: 30 }, () => hash("stranger")));
  await hash("known");
  expect((await flood).filter(({ status }) => status === "rejected")).toHaveLength(8);
  expect(hashed.indexOf("known")).toBe(2);
});

test("a code of the step before, of this and of the next is taken, and none of a step that was", async () => {
  const tools = accountTools(ports);
  const { secret, uri } = await tools.offerTotp("Maya Rai");
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(uri).toBe(`otpauth://totp/topupd:Maya%20Rai?secret=${secret}&issuer=topupd`);
  const step = Math.floor(NOW / 30_000);
  const check = async (seconds: number, after?: number) =>
    tools.checkTotp(secret, await generate({ secret, epoch: NOW / 1_000 + seconds }), after);
  expect(await Promise.all([-60, -30, 0, 30, 60].map((seconds) => check(seconds)))).toEqual([
    ...[undefined, step - 1, step, step + 1, undefined],
  ]);
  expect([await check(0, step), await check(-30, step), await check(30, step)]).toEqual([
    undefined,
    undefined,
    step + 1,
  ]);
  for (const code of ["", "12345", "abcdef", "1234567"])
    expect(await tools.checkTotp(secret, code, undefined)).toBeUndefined();
});

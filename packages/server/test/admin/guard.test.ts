import { expect, test } from "vitest";
import type { AccountTools } from "../../src/domain/passwords.ts";
import { accountTools, HashQueue } from "../../src/system/account-tools.ts";
import { CHEAP } from "../support/office-line.ts";
import { seededRandom } from "../support/random.ts";
import { openSocket } from "../support/raw-socket.ts";
import { PASSWORD, startStaffApi } from "../support/staff-api.ts";

test("of thousands of requests in one piece, the console's port answers the first", async () => {
  const api = await startStaffApi();
  const { socket, received, closed } = await openSocket(api);
  socket.write("GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5_000));
  await closed;
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
  expect(api.logs).toHaveLength(1);
});

test("a person at a known place logs in while 30 strangers guess", async () => {
  const tools = accountTools({ clock: Date.now, random: seededRandom(5) }, CHEAP);
  const queue = new HashQueue();
  let goOn = () => {};
  const all = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let [asked, isWaiting] = [0, false];
  const checkPassword: AccountTools["checkPassword"] = (password, hashed, isKnown) => {
    asked += 1;
    const wait = isWaiting ? all : undefined;
    return queue.run(() => Promise.resolve(wait).then(() => tools.checkPassword(password, hashed, true)), isKnown);
  };
  const api = await startStaffApi({ world: { accounts: { ...tools, checkPassword } } });
  const logIn = async (password: string, from: string) =>
    (await api.call("POST /session", { as: null, from, body: { name: "maya", password } })).status;
  await api.addPerson("maya", "admin");
  expect(await logIn(PASSWORD, "203.0.113.7")).toBe(201);
  isWaiting = true;
  const guesses = Array.from({ length: 30 }, (_, index) => logIn("wrong", `198.51.100.${index}`));
  await expect.poll(() => asked).toBe(31);
  const maya = logIn(PASSWORD, "203.0.113.7");
  await expect.poll(() => asked).toBe(32);
  goOn();
  expect(await maya).toBe(201);
  const statuses = await Promise.all(guesses);
  expect(statuses.toSorted((one, other) => one - other)).toEqual([...Array(22).fill(401), ...Array(8).fill(429)]);
});

test("a browser keeps the secret of a known device, whose person others at its place cannot lock out", async () => {
  const api = await startStaffApi();
  await api.addPerson("maya", "admin");
  const logIn = (password: string, cookie = "") =>
    api.call("POST /session", { as: null, body: { name: "maya", password }, headers: { cookie } });
  const cookies = (await logIn(PASSWORD)).headers["set-cookie"] as string[];
  const device = cookies.find((cookie) => cookie.startsWith("topupd_device_")) ?? "";
  expect(device).toMatch(/^topupd_device_\d+=[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
  for (let times = 0; times < 10; times += 1) expect((await logIn("wrong")).status).toBe(401);
  expect((await logIn(PASSWORD)).status).toBe(429);
  expect((await logIn(PASSWORD, device.split(";")[0])).status).toBe(201);
});

test("answers over HTTPS forbid plain HTTP for a year", async () => {
  const trustedProxies = { has: (address: string) => address === "127.0.0.1" } as never;
  const api = await startStaffApi({ trustedProxies });
  const header = async (proto: string, from: string) =>
    (await api.call("GET /session", { from, headers: { "x-forwarded-proto": proto } })).headers[
      "strict-transport-security"
    ];
  expect(await header("https", "127.0.0.1")).toBe("max-age=31536000");
  expect([await header("http", "127.0.0.1"), await header("https", "127.0.0.2")]).toEqual([undefined, undefined]);
});

test("a request with two Authorization headers is refused", async () => {
  const api = await startStaffApi();
  const { socket, received, closed } = await openSocket(api);
  const key = `Authorization: Bearer ${api.keys.admin}\r\n`;
  socket.write(`GET /api/v1/partners HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${key}${key}\r\n`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 422 /);
});

// Takes the pictures of docs/console/ from the demo, on a new database: npx tsx scripts/console-pictures.mjs
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "../packages/server/test/support/browser.ts";

const PICTURES = "docs/console";
const MOST_BYTES = 250_000;
const DESK = { width: 1280, height: 800 };
const TELEPHONE = { width: 390, height: 844 };

/** CUID is a customer with goodwill. `opensLedger`: the ledger of the connection with the goodwill is open. */
const SHOTS = [
  { name: "overview", path: "/", viewport: DESK },
  { name: "customer", path: "/customers/CUID", viewport: DESK, opensLedger: true },
  { name: "customer-telephone", path: "/customers/CUID", viewport: TELEPHONE },
  { name: "transactions", path: "/transactions", viewport: DESK },
  { name: "partner", path: "/partners/City%20Kiosks?tab=account", viewport: DESK },
  { name: "settlement", path: "/settlement", viewport: DESK },
];

run("node", ["scripts/install-tools.mjs"]);
run("npm", ["run", "--silent", "build", "--workspace", "topupd"]);
const folder = mkdtempSync(join(tmpdir(), "topupd-pictures-"));
const demo = spawn(
  process.execPath,
  [
    ...["packages/server/bin/topupd.js", "demo", "--database", `sqlite:${join(folder, "demo.db")}`],
    ...["--port", "0", "--console-port", "0"],
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const { url, name, password } = await readAccess();
  const browser = await launchBrowser();
  try {
    mkdirSync(PICTURES, { recursive: true });
    const state = await logIn(browser, url, name, password);
    const { cuid, reqId } = await findGoodwill(browser, url, state);
    for (const { opensLedger, path, ...shot } of SHOTS)
      await take(browser, url, state, {
        ...shot,
        path: path.replace("CUID", cuid),
        connection: opensLedger ? reqId : undefined,
      });
  } finally {
    await browser.close();
  }
} finally {
  demo.kill();
  if (demo.exitCode === null) await once(demo, "exit");
  rmSync(folder, { recursive: true, force: true });
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed`);
}

/** Waits until the demo says where its console is. */
async function readAccess() {
  let printed = "";
  for await (const chunk of demo.stdout) {
    printed += chunk;
    const [, url, name, password] = /^Console: (\S+) {2}log in as (\S+), password (\S+)$/m.exec(printed) ?? [];
    if (password !== undefined) return { url, name, password };
  }
  throw new Error(`the demo ended: ${printed}`);
}

async function logIn(browser, url, name, password) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** The customer and the connection of the last goodwill. */
async function findGoodwill(browser, url, storageState) {
  const context = await browser.newContext({ storageState });
  const answer = await context.request.get(`${url}/api/v1/audit?action=subscription.goodwill&limit=1`);
  const [{ subject }] = (await answer.json()).items;
  await context.close();
  const [, cuid, reqId] = /(\d+) \w+ (\S+)/.exec(subject);
  return { cuid, reqId };
}

async function take(browser, url, storageState, { name, path, viewport, connection }) {
  const context = await browser.newContext({ storageState, viewport, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(url + path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  if (connection !== undefined) {
    await page.locator(".connection-line .link-button", { hasText: connection }).click();
    await page.waitForLoadState("networkidle");
    await page.mouse.move(0, 0);
  }
  const file = join(PICTURES, `${name}.png`);
  await page.screenshot({ path: file });
  await context.close();
  const { size } = statSync(file);
  process.stdout.write(`${file}: ${size} bytes\n`);
  if (size > MOST_BYTES) throw new Error(`${file} is larger than ${MOST_BYTES} bytes`);
}

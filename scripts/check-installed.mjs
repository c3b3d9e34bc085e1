// Ends with a plain sentence if the packages that a build needs are not installed.
import { existsSync, readFileSync } from "node:fs";

const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const isInstalled = (name) => existsSync(new URL(`../node_modules/${name}`, import.meta.url));

if (!Object.keys(devDependencies).every(isInstalled)) {
  process.stderr.write("The dependencies are not installed. Run npm ci first.\n");
  process.exitCode = 1;
}

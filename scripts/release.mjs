// `npm run release -- 0.1.0 [--from STEP]`: checks all that a release needs. It publishes nothing.
import { parseArgs } from "node:util";
import { publishCommands, STEPS } from "./release/steps.mjs";

const names = Object.keys(STEPS);
const { values, positionals } = parseArgs({ options: { from: { type: "string" } }, allowPositionals: true });
const [version = ""] = positionals;
const { from = names[0] } = values;
if (positionals.length !== 1 || !/^\d+\.\d+\.\d+$/.test(version) || !names.includes(from)) {
  process.stderr.write(`Usage: npm run release -- X.Y.Z [--from STEP]\nSteps: ${names.join(", ")}\n`);
  process.exit(2);
}

for (const name of names.slice(names.indexOf(from))) {
  process.stdout.write(`\n== ${name}\n`);
  const began = performance.now();
  const took = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  try {
    await STEPS[name](version);
  } catch (error) {
    process.stderr.write(`${error.message}\n== ${name}: failed after ${took()}\n`);
    process.stderr.write(`Fix it, then run: npm run release -- ${version} --from ${name}\n`);
    process.exit(1);
  }
  process.stdout.write(`== ${name}: passed in ${took()}\n`);
}
process.stdout.write(`\nReady. To publish ${version}, run:\n\n${publishCommands(version).join("\n")}\n`);

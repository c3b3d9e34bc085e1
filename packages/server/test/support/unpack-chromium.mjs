// Unpacks the browser of tools/ into the folder that TMPDIR names, with the libraries that a bare machine lacks.
import { createRequire } from "node:module";

// It unpacks those libraries only where it takes the machine for such a bare one.
process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs20.x";
const require = createRequire(new URL("../../../../tools/package.json", import.meta.url));
const { default: chromium } = await import(require.resolve("@sparticuz/chromium"));
chromium.setGraphicsMode = false;
await chromium.executablePath();

import { spawn } from "node:child_process";
import { guard } from "../clean-up.ts";
import { memoryMiBOf } from "../proc.ts";
import { TOPUPD } from "../processes.ts";

export interface Imported {
  readonly customersPerSecond: number;
  /** The most memory that was resident at any time; undefined where the machine does not tell. */
  readonly peakMiB: number | undefined;
}

const LOOK_EVERY_MS = 50;

/** Imports a file of customers by the command line, and watches the memory of that. */
export async function importCustomers(folder: string, file: string, customers: number): Promise<Imported> {
  const begun = performance.now();
  const child = guard(
    spawn(process.execPath, [TOPUPD, "import", "customers", file], {
      cwd: folder,
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  let peakMiB: number | undefined;
  // The kernel itself keeps the peak: all that can be missed is what grows in the last moment.
  const watch = setInterval(() => {
    if (child.pid !== undefined) peakMiB = memoryMiBOf(child.pid) ?? peakMiB;
  }, LOOK_EVERY_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
    if (code !== 0) throw new Error(`the import of ${customers} customers ended with ${code}`);
  } finally {
    clearInterval(watch);
  }
  return { customersPerSecond: (customers * 1000) / (performance.now() - begun), peakMiB };
}

import { v1_0_0 } from "./v1_0_0.ts";
import { v1_0_1 } from "./v1_0_1.ts";
import type { Version } from "./version.ts";

/** Every published version, the current one first. */
export const VERSIONS: readonly Version[] = [v1_0_1, v1_0_0];

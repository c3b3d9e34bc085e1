import type { Mutant } from "./mutant.ts";

/** Faults in the rules. */
export const IN_DOMAIN: readonly Mutant[] = [
  {
    fault: "two different roles share everything that the first allows",
    file: "packages/server/src/domain/staff.ts",
    from: "const shared = PERMISSIONS[one].filter((permission) => PERMISSIONS[other].includes(permission));",
    to: "const shared = PERMISSIONS[one];",
    test: "packages/server/test/domain/staff.test.ts",
    title: "two roles share",
  },
];

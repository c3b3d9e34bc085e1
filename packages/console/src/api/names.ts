import type { Me, Transaction } from "./staff-api.d.ts";

/* Types that the answers of the staff API hold without a name. */

export type Environment = Me["provider"]["environment"];
export type Role = Me["role"];
export type Permission = Me["permissions"][number];
export type Service = Transaction["service"];

export { RadiusFailed } from "./database.ts";
export type { RadiusUser } from "./rows.ts";
export { RadiusUsers } from "./users.ts";

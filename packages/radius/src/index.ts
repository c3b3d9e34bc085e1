export { RadiusFailed } from "./database.ts";
export { type Device, Devices } from "./devices.ts";
export {
  type Answer,
  ATTRIBUTE_NAMES,
  type AttributeName,
  type Attributes,
  isSendable,
  SESSION_NOT_FOUND,
} from "./packet.ts";
export type { RadiusUser } from "./rows.ts";
export { RadiusSessions, type Session, type SessionState } from "./sessions.ts";
export { RadiusUsers } from "./users.ts";

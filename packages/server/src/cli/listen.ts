import { SETTINGS, type SettingName } from "../config.ts";
import { CommandFailed } from "./runtime.ts";

/** Where something is to listen, and by which settings that was said. */
export interface ListeningAt {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: SettingName;
  readonly portSetting: SettingName;
}

/** @throws CommandFailed, which says what to change, where it cannot listen. */
export async function listening<Result>(listened: Promise<Result>, at: ListeningAt): Promise<Result> {
  try {
    return await listened;
  } catch (error) {
    throw new CommandFailed(whyNot(error as NodeJS.ErrnoException, at));
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException, at: ListeningAt): string {
  const { host, port } = at;
  if (code === "EADDRINUSE") return `port ${port} of ${host} is in use: ${chooseBy(at.portSetting)}`;
  if (code === "EACCES") return `port ${port} of ${host} is not allowed to this user: ${chooseBy(at.portSetting)}`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${host} is no address of this machine: ${chooseBy(at.hostSetting)}`;
  return `cannot listen on ${host}, port ${port}: ${message}`;
}

function chooseBy(setting: SettingName): string {
  const { flag, env } = SETTINGS[setting];
  return `choose another with --${flag} or ${env}`;
}

import { type Desk, singlesOf } from "../../office/office.ts";
import { wellState } from "../../system/service-state.ts";
import type { DeskSession } from "./command.ts";
import { firstSettings } from "./first-settings.ts";
import { progressLine } from "./terminal.ts";

/** The desk that a command gives an operation. Ctrl-C ends long work after its current step. */
export function shellDesk({ store, clock, random, actor, runtime, config }: DeskSession): Desk {
  const line = progressLine(runtime);
  const goOn: Desk["goOn"] = async (work) => {
    const stopping = new AbortController();
    void runtime.untilAskedToStop().then(() => stopping.abort());
    await line.until(work(stopping.signal));
  };
  const { accounts, sleep, lowerPriority: giveWay } = runtime;
  const { currency, numberGrouping, privateTargets } = config;
  const settings = firstSettings(config);
  const targets = runtime.targetTools(privateTargets);
  const known = { single: singlesOf({ store, clock }), state: wellState() };
  const tools = { accounts, targets, sleep, giveWay, currency, numberGrouping, settings, limits: undefined, ...known };
  return { store, clock, random, actor, ...tools, goOn, progress: (words) => line.show(words) };
}

import { Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import { targetChanged } from "../../domain/target-audit.ts";
import { restartDue } from "../../store/sessions-due.ts";
import { decide } from "../decide.ts";
import { type Operation, operation } from "../operation.ts";
import { changed, refuseAddress, shown } from "./operations.ts";
import { configOf, radiusConfigOf, refuseSameDatabase } from "./radius.ts";
import { NAME, RadiusSchema, TargetSchema } from "./schemas.ts";
import { targetNamed, updateTarget } from "./sql.ts";

/** The shell has its own command, which reads the file. */
export const changeTarget = operation({
  tag: "Targets and events",
  permission: "administer",
  http: "PUT /targets/:name/radius",
  refuses: ["not_found", "conflict"],
  summary: "Replace the settings of a RADIUS target, which keeps its place and its service",
  input: Type.Object({ ...NAME, radius: RadiusSchema }),
  answer: TargetSchema,
  async run(office, { name, radius }) {
    const { engine, provider } = office.store;
    const { service } = radiusConfigOf(await targetNamed(engine.db, name));
    const config = configOf({ name, radius }, provider, service);
    await refuseAddress(office, config);
    const after = await decide(office, "reference", async (tx) => {
      const before = await targetNamed(tx, name);
      if (radius.service !== undefined && radius.service !== radiusConfigOf(before).service)
        throw Refused.field("radius.service", "cannot change: add another target");
      await refuseSameDatabase(tx, config, before);
      const after = { ...before, config };
      const audit = targetChanged(before, after);
      if (audit === undefined) return { answer: before };
      const write = async () => {
        await updateTarget(tx, before, { config: JSON.stringify(config) });
        await restartDue(tx, after, office.by.at);
      };
      return changed(after, write, audit);
    });
    return shown(office, after);
  },
});

export const operations: readonly Operation[] = [changeTarget];

import { SERVICES } from "./bouquet.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import { isJsonObject, type JsonValue } from "./json.ts";
import type { RadiusConfig } from "./target.ts";
import { isTimeZone } from "./zone.ts";

const DEFAULT_SERVICES = ["internet"] as const;
const PROTOCOLS = ["postgres:", "postgresql:", "mysql:", "mariadb:"];
/** Of a user's row in FreeRADIUS's tables, of which MySQL's hold no longer name. */
const GROUP = { maxLength: 64, isTight: true };

/** Reads the file of a target of kind `radius`: `{"database", "timeZone", "groups", "defaultGroup"?, "services"?}`. */
export function readRadiusConfig(file: JsonValue): Reading<RadiusConfig> {
  if (!isJsonObject(file)) return { ok: false, problems: [{ field: "the file", problem: "must be a JSON object" }] };
  const fields = new FieldReader(file);
  const database = fields.text("database", { maxLength: 2000 });
  const timeZone = fields.text("timeZone", { maxLength: 64 });
  const plans = isJsonObject(file["groups"]) ? Object.keys(file["groups"]) : [];
  const groups = fields.object("groups", (group) =>
    Object.fromEntries(plans.map((plan) => [plan, group.text(plan, GROUP)])),
  );
  const defaultGroup = fields.optionalText("defaultGroup", GROUP);
  const services = fields.statedIdentifiers("services");
  fields.refuseOthers();

  if (database !== "" && !isDatabase(database))
    fields.problem("database", "must be postgres:// or mysql://, and then USER:PASSWORD@HOST:PORT/DATABASE");
  if (timeZone !== "" && !isTimeZone(timeZone))
    fields.problem("timeZone", "must be an IANA time zone such as Asia/Kathmandu");
  for (const plan of plans)
    if (plan.length > NAME_MAX_LENGTH)
      fields.problem("groups", `must have plans of at most ${NAME_MAX_LENGTH} characters`);
  const known = SERVICES.filter((service) => services.includes(service));
  if (fields.has("services") && (known.length === 0 || known.length < services.length))
    fields.problem("services", `must be some of ${SERVICES.map((service) => `"${service}"`).join(", ")}, each once`);
  return fields.finish({
    ...{ kind: "radius", database, timeZone, groups: groups ?? {}, defaultGroup },
    services: fields.has("services") ? known : DEFAULT_SERVICES,
  });
}

function isDatabase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  return PROTOCOLS.includes(protocol) && hostname !== "" && pathname.length > 1;
}

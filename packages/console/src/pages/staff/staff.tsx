import type { Role } from "../../api/request.ts";
import { Card, KeyValue } from "../../components/display.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { Keys } from "./keys.tsx";
import { People, ROLES } from "./people.tsx";

const t = texts.staff;

export default function Staff() {
  return (
    <>
      <PageHead title={texts.shell.pages.staff} lead={t.lead} />
      <People />
      <Keys />
      <Card title={t.roles}>
        <KeyValue items={ROLES.map((role: Role) => [texts.common.roles[role], t.roleTexts[role]] as const)} />
      </Card>
    </>
  );
}

import { Card, Fact, KeyValue } from "../../components/display.tsx";
import { PageHead } from "../../components/page-head.tsx";
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
        <KeyValue>
          {ROLES.map((role) => (
            <Fact key={role} label={texts.common.roles[role]} value={t.roleTexts[role]} />
          ))}
        </KeyValue>
      </Card>
    </>
  );
}

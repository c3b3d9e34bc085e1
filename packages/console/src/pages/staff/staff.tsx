import { useApi } from "../../api/hooks.ts";
import { Card, Fact, KeyValue } from "../../components/display.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { Keys } from "./keys.tsx";
import { People } from "./people.tsx";

const t = texts.staff;

export default function Staff() {
  const roles = useApi("GET /roles");
  return (
    <>
      <PageHead title={texts.shell.pages.staff} lead={t.lead} />
      <People />
      <Keys />
      <Card title={t.roles}>
        <Loaded of={roles}>
          {({ items }) => (
            <KeyValue>
              {items.map(({ role, may }) => (
                <Fact key={role} label={texts.common.roles[role]} value={may} wide />
              ))}
            </KeyValue>
          )}
        </Loaded>
      </Card>
    </>
  );
}

import { Link } from "wouter";
import { useApi } from "../api/hooks.ts";
import { useMay } from "../api/session.tsx";
import type { Setup, SetupStep } from "../api/staff-api.d.ts";
import { type Column, DataTable } from "../components/data-table.tsx";
import { Card } from "../components/display.tsx";
import { useEnvironment } from "../components/environment.tsx";
import { setup as t } from "./texts.ts";

const STEPS: readonly Column<SetupStep>[] = [
  { header: t.step, cell: ({ title, page }) => (page === null ? title : <Link href={page}>{title}</Link>) },
  { header: t.todo, cell: ({ text }) => text },
  { header: t.command, cell: ({ command }) => <code>{command}</code> },
];
const SETTINGS: readonly Column<Setup["settings"][number]>[] = [
  { header: t.setting, cell: ({ title }) => title },
  { header: t.value, cell: ({ value }) => value ?? t.notSet },
  { header: t.variable, cell: ({ variable }) => <code>{variable}</code> },
];

/** Steps of the first run that are not done, for admins. They are about production. */
export function FirstRun() {
  const isAdmin = useMay("administer");
  const isShown = useEnvironment() === "production" && isAdmin;
  const { data } = useApi("GET /setup", isShown ? {} : null);
  if (data === undefined || data.isDone || !isShown) return null;
  const left = data.steps.filter(({ isDone }) => !isDone);
  return (
    <Card title={t.stepsTitle}>
      <DataTable label={t.steps} columns={STEPS} rows={left} rowKey={({ step }) => step} />
      <DataTable label={t.settings} columns={SETTINGS} rows={data.settings} rowKey={({ variable }) => variable} />
    </Card>
  );
}

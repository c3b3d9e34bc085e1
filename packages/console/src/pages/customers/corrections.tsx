import { type ReactNode, useState } from "react";
import type { Connection, Plan, Run } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Select, TextInput } from "../../components/controls.tsx";
import { CorrectionDialog } from "../../components/dialog.tsx";
import { Badge, BeforeAfter, connectionName, RunChange } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { countOf, minuteOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { whenWords } from "./ledger-words.ts";

const t = texts.customers;

interface CorrectionsProps {
  readonly cuid: string;
  readonly connection: Connection;
}

/** A button for each correction of a connection, and the dialog of the chosen one. */
export function Corrections({ cuid, connection }: CorrectionsProps) {
  const [chosen, setChosen] = useState<"goodwill" | "goodwill-reversal" | "block">();
  const name = connectionName(connection);
  const block = connection.blockedByStaff === null ? t.block : t.unblock;
  const { plans } = connection;
  const given = plans.filter(({ lastGoodwill }) => lastGoodwill !== null);
  const dialog = { cuid, connection, name, onClose: () => setChosen(undefined) };
  return (
    <>
      {plans.length > 0 && (
        <Button aria-label={t.of(t.giveDays, name)} onClick={() => setChosen("goodwill")}>
          {t.giveDays}
        </Button>
      )}
      {given.length > 0 && (
        <Button aria-label={t.of(t.reverseGoodwill, name)} onClick={() => setChosen("goodwill-reversal")}>
          {t.reverseGoodwill}
        </Button>
      )}
      <Button aria-label={t.of(block, name)} onClick={() => setChosen("block")}>
        {block}
      </Button>
      {chosen === "goodwill" && <GoodwillDialog {...dialog} plans={plans} />}
      {chosen === "goodwill-reversal" && <GoodwillReversalDialog {...dialog} plans={given} />}
      {chosen === "block" && <BlockDialog {...dialog} />}
    </>
  );
}

interface OfConnection {
  readonly cuid: string;
  readonly connection: Connection;
  readonly name: string;
  readonly onClose: () => void;
}

/** Gives a subscription free days. The preview follows the entered days. */
function GoodwillDialog({ cuid, connection, name, plans, onClose }: OfPlans) {
  const { service, reqId } = connection;
  const environment = useEnvironment();
  const [days, setDays] = useState("1");
  // The plan that runs longest is the first one.
  const [plan, setPlan] = useState(plans[0]?.plan ?? "");
  const count = readDays(days);
  return (
    <CorrectionDialog
      correction="POST /customers/:cuid/goodwill"
      input={count === undefined ? null : { environment, cuid, service, reqId, plan, days: count }}
      title={t.of(t.giveDays, name)}
      description={t.giveDaysText}
      submit={count === undefined ? t.giveDays : t.giveConfirm(countOf(count, "day"))}
      show={showRuns}
      done={({ plan: of, after }) => t.given(t.of(of, name), minuteOf(after?.end ?? ""))}
      onClose={onClose}
    >
      <PlanField plans={plans} plan={plan} onChange={setPlan} />
      <DaysField days={days} onChange={setDays} />
    </CorrectionDialog>
  );
}

interface OfPlans extends OfConnection {
  readonly plans: readonly Plan[];
}

/** Reverses the last goodwill of a plan. */
function GoodwillReversalDialog({ cuid, connection, name, plans, onClose }: OfPlans) {
  const { service, reqId } = connection;
  const environment = useEnvironment();
  const [plan, setPlan] = useState(plans[0]?.plan ?? "");
  const seq = plans.find((each) => each.plan === plan)?.lastGoodwill ?? undefined;
  return (
    <CorrectionDialog
      correction="POST /customers/:cuid/goodwill-reversal"
      input={{ environment, cuid, service, reqId, plan, seq }}
      title={t.of(t.reverseGoodwill, name)}
      description={t.reverseGoodwillText}
      submit={t.reverseGoodwill}
      danger
      show={showRuns}
      done={({ plan: of, after }) =>
        after === null ? t.goodwillReversedAll(t.of(of, name)) : t.goodwillReversed(t.of(of, name), minuteOf(after.end))
      }
      onClose={onClose}
    >
      <PlanField plans={plans} plan={plan} onChange={setPlan} />
    </CorrectionDialog>
  );
}

/** Blocks a connection, or unblocks one that staff have blocked. */
function BlockDialog({ cuid, connection, name, onClose }: OfConnection) {
  const { service, reqId, blockedByStaff } = connection;
  const isBlocked = blockedByStaff !== null;
  const environment = useEnvironment();
  const action = isBlocked ? t.unblock : t.block;
  return (
    <CorrectionDialog
      correction="POST /customers/:cuid/block"
      input={{ environment, cuid, service, reqId, blocked: !isBlocked }}
      title={t.of(action, name)}
      description={isBlocked ? t.unblockText : t.blockText}
      submit={action}
      danger={!isBlocked}
      isIdle={({ changed }) => !changed}
      show={({ blocked, changed }) =>
        changed ? (
          <BeforeAfter before={<BlockBadge blocked={!blocked} />} after={<BlockBadge blocked={blocked} />} />
        ) : (
          <p>{t.noChange}</p>
        )
      }
      done={({ blocked }) => (blocked ? t.blocked(name) : t.unblocked(name))}
      onClose={onClose}
    />
  );
}

function BlockBadge({ blocked }: { blocked: boolean }) {
  return blocked ? <Badge tone="danger">{t.blockedByStaff}</Badge> : <Badge tone="success">{t.notBlocked}</Badge>;
}

function showRuns({ before, after }: { before: Run | null; after: Run | null }): ReactNode {
  return <RunChange before={before} after={after} />;
}

interface PlanFieldProps {
  readonly plans: readonly Plan[];
  readonly plan: string;
  readonly onChange: (plan: string) => void;
}

function PlanField({ plans, plan, onChange }: PlanFieldProps) {
  if (plans.length <= 1) return null;
  return (
    <Field name="plan" label={t.plan}>
      <Select
        options={plans.map((each) => {
          const when = each.run === null ? "" : ` · ${whenWords(each, each.run)}`;
          return [each.plan, `${each.plan} · ${t.planStates[each.state]}${when}`] as const;
        })}
        value={plan}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

const QUICK = [1, 3, 7];
const MOST_DAYS = 366;

interface DaysFieldProps {
  readonly days: string;
  readonly onChange: (days: string) => void;
}

/** Days of goodwill, and buttons for the usual ones. */
export function DaysField({ days, onChange }: DaysFieldProps) {
  return (
    <div className="stack">
      <Field name="days" label={t.days} hint={t.daysHint}>
        <TextInput
          required
          type="number"
          min={1}
          max={MOST_DAYS}
          value={days}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
      <div className="row">
        {QUICK.map((each) => (
          <Button key={each} aria-pressed={days === String(each)} onClick={() => onChange(String(each))}>
            {countOf(each, "day")}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Number of days; undefined if it is not allowed. */
export function readDays(days: string): number | undefined {
  const count = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  return count >= 1 && count <= MOST_DAYS ? count : undefined;
}

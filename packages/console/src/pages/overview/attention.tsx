import { Link } from "wouter";
import { useLive } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { AttentionItem } from "../../api/staff-api.d.ts";
import { Approvals } from "../../components/approvals.tsx";
import { Card } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { countOf, formatAge, formatAmount, formatCount, formatMebibytes, formatTime, inSeconds } from "../../format.ts";
import { partnerHref, targetHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";

const t = texts.overview.attention;

interface AttentionProps {
  readonly title: string;
  /** Shown if there is no problem. */
  readonly nothing: string;
  /** Advice by kind of problem. */
  readonly advice?: Readonly<Partial<Record<AttentionItem["kind"], string>>>;
}

/** Open problems, the most urgent first. */
export function Attention({ title, nothing, advice }: AttentionProps) {
  const attention = useLive("GET /attention", { environment: useEnvironment() }, { seconds: 30 });
  return (
    <Card title={title}>
      <Loaded of={attention}>
        {({ items }) => {
          if (items.length === 0) return <Note tone="success">{nothing}</Note>;
          return items.map((item) => (
            <Item
              key={`${item.kind} ${item.subject} ${item.limit} ${item.at}`}
              item={item}
              advice={advice?.[item.kind]}
            />
          ));
        }}
      </Loaded>
    </Card>
  );
}

function Item({ item, advice }: { item: AttentionItem; advice: string | undefined }) {
  const { timeZone } = useMe().provider;
  const environment = useEnvironment();
  const { kind } = item;
  if (kind === "second_person") return <Approvals environment={environment} />;
  const { text, href, link } = describe(kind, item, timeZone);
  return (
    <Note tone={kind === "recording_fails" ? "danger" : "warning"}>
      <p className={advice && "strong"}>
        {text} {(advice === undefined || href !== "/health") && <Link href={href}>{link}</Link>}
      </p>
      {advice !== undefined && <p>{advice}</p>}
    </Note>
  );
}

interface Described {
  readonly text: string;
  /** Page that fixes the problem. */
  readonly href: string;
  readonly link: string;
}

type DescribedKind = Exclude<AttentionItem["kind"], "second_person">;

function describe(kind: DescribedKind, item: AttentionItem, timeZone: string): Described {
  const { count, subject, limit, at } = item;
  const [amount, topUps] = [formatAmount(item.amount ?? "0"), countOf(count ?? 0, "top-up")];
  const name = subject ?? "";
  const age = at === null ? "" : formatAge(at);
  const events = countOf(count ?? 0, "event");
  const toTarget = { href: targetHref({ name }), link: t.toTarget };
  const toPartner = { href: partnerHref({ name }), link: t.toPartner };
  const toHealth = { href: "/health", link: t.toHealth };
  switch (kind) {
    case "recording_fails":
      return { text: t.recording_fails(at === null ? "" : formatTime(at, timeZone)), ...toHealth };
    case "failed_deliveries":
      return { text: t.failed_deliveries(events, name), ...toTarget };
    case "target_behind":
      return { text: t.target_behind(events, name, age), ...toTarget };
    case "target_paused":
      return { text: t.target_paused(events, name), ...toTarget };
    case "held_back":
      return {
        text: t.held_back(countOf(count ?? 0, "subscription")),
        href: "/imports?tab=held-back",
        link: t.toHeldBack,
      };
    case "token_ending":
      return { text: t.token_ending(name, age), ...toPartner };
    case "account_low":
      return { text: t.account_low(name, amount), ...toPartner };
    case "balance_refused":
      return { text: t.balance_refused(name, topUps, amount), ...toPartner };
    case "limit_reached":
      return {
        text: t.limit_reached(name, topUps, amount, limit === null ? "" : texts.refusedCalls.details[limit]),
        ...toPartner,
      };
    case "look_ups_refused":
      return { text: t.look_ups_refused(name, formatCount(count ?? 0), age), ...toPartner };
    case "clock_set_back":
      return { text: t.clock_set_back(at === null ? "" : formatTime(at, timeZone)), ...toHealth };
    case "disk_low":
      return { text: t.disk_low(formatMebibytes(count ?? 0)), ...toHealth };
    case "log_large":
      return { text: t.log_large(formatMebibytes(count ?? 0)), ...toHealth };
    case "reports_behind":
      return { text: at === null ? t.reportsAway : t.reports_behind(age), ...toHealth };
    case "restarts":
      return { text: t.restarts(countOf(count ?? 0, "process", "processes")), ...toHealth };
    case "slow":
      return { text: t.slow(texts.refusedCalls.operations[name] ?? name, inSeconds(count ?? 0)), ...toHealth };
    case "no_check":
      return { text: at === null ? t.noCheckEver : t.no_check(age), ...toHealth };
    case "no_backup":
      return { text: at === null ? t.noBackupEver : t.no_backup(age), ...toHealth };
  }
}

import { Link } from "wouter";
import { useApi } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { AttentionItem } from "../../api/staff-api.d.ts";
import { Card } from "../../components/display.tsx";
import { Loaded, Note, type Tone } from "../../components/states.tsx";
import { countOf, formatAge, formatTime } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.overview.attention;

/** Open problems, each with a link to the page that fixes it. */
export function Attention() {
  const environment = useEnvironment();
  const attention = useApi("GET /attention", { environment });
  return (
    <Card title={t.title}>
      <Loaded of={attention}>
        {({ items }) =>
          items.length === 0 ? (
            <Note tone="success">
              <p>{t.nothing}</p>
            </Note>
          ) : (
            items.map((item) => <Item key={`${item.kind} ${item.subject} ${item.at}`} item={item} />)
          )
        }
      </Loaded>
    </Card>
  );
}

function Item({ item }: { item: AttentionItem }) {
  const { timeZone } = useMe().provider;
  const { tone, text, href, link } = describe(item, timeZone);
  return (
    <Note tone={tone}>
      <p>
        {text} <Link href={href}>{link}</Link>
      </p>
    </Note>
  );
}

interface Described {
  readonly tone: Tone;
  readonly text: string;
  /** Page that fixes the problem. */
  readonly href: string;
  readonly link: string;
}

function describe({ kind, count, subject, at }: AttentionItem, timeZone: string): Described {
  const name = subject ?? "";
  const age = at === null ? "" : formatAge(at);
  const events = countOf(count ?? 0, "event");
  const target = { href: `/targets/${encodeURIComponent(name)}`, link: t.toTarget };
  switch (kind) {
    case "recording_fails":
      return {
        ...{ tone: "danger", text: t.recording_fails(at === null ? "" : formatTime(at, timeZone)) },
        ...{ href: "/health", link: t.toHealth },
      };
    case "failed_deliveries":
      return { tone: "warning", text: t.failed_deliveries(events, name), ...target };
    case "target_behind":
      return { tone: "warning", text: t.target_behind(events, name, age), ...target };
    case "held_back":
      return {
        ...{ tone: "warning", text: t.held_back(countOf(count ?? 0, "subscription")) },
        ...{ href: "/imports?tab=held-back", link: t.toHeldBack },
      };
    case "token_ending":
      return {
        ...{ tone: "warning", text: t.token_ending(name, age) },
        ...{ href: `/partners/${encodeURIComponent(name)}`, link: t.toPartner },
      };
    case "no_backup":
      return {
        ...{ tone: "warning", text: at === null ? t.noBackupEver : t.no_backup(age) },
        ...{ href: "/health", link: t.toHealth },
      };
  }
}

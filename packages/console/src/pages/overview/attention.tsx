import { Link } from "wouter";
import { useLive } from "../../api/hooks.ts";
import type { AttentionItem } from "../../api/staff-api.d.ts";
import { Approvals } from "../../components/approvals.tsx";
import { Card } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.overview.attention;

interface AttentionProps {
  readonly title: string;
  /** Shown if there is no problem. */
  readonly nothing: string;
  /** Advice by kind of problem. */
  readonly advice?: Readonly<Partial<Record<AttentionItem["kind"], (name: string) => string>>>;
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
              key={`${item.kind} ${item.subject} ${item.text}`}
              item={item}
              advice={advice?.[item.kind]?.(item.subject ?? "")}
            />
          ));
        }}
      </Loaded>
    </Card>
  );
}

function Item({ item, advice }: { item: AttentionItem; advice: string | undefined }) {
  const environment = useEnvironment();
  const { kind, title, text, page } = item;
  if (kind === "second_person") return <Approvals environment={environment} />;
  return (
    <Note tone={kind === "recording_fails" ? "danger" : "warning"}>
      <p>
        <strong>{title}.</strong> {text}{" "}
        {(advice === undefined || page !== "/health") && <Link href={page}>{t.toPage}</Link>}
      </p>
      {advice !== undefined && <p>{advice}</p>}
    </Note>
  );
}

import type { ReactNode } from "react";
import { useApi } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Settlement } from "../../api/staff-api.d.ts";
import { Fact } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PaperHead } from "../../components/paper.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;

interface PeriodHeadProps {
  readonly title: string;
  readonly of: Pick<Settlement, "number" | "from" | "to" | "open">;
  /** Empty for all partners. */
  readonly partner: string;
  /** The amount of the page, as a fact. */
  readonly children: ReactNode;
}

/** Head of a printed settlement or statement; hidden on the screen. */
export function PeriodHead({ title, of: { number, from, to, open }, partner, children }: PeriodHeadProps) {
  const { timeZone, calendar } = useMe().provider;
  return (
    <PaperHead title={[title, number, open && t.preliminary].filter(Boolean).join(" ")}>
      <Fact label={t.partner} value={partner === "" ? t.allPartners : <PartnerLines name={partner} />} />
      <Fact label={t.period} value={t.lead(from, to, timeZone)} />
      <Fact label={t.issued} value={calendar.today} />
      {children}
      {useEnvironment() === "trial" && <Fact label={texts.shell.environment} value={t.trial} />}
    </PaperHead>
  );
}

function PartnerLines({ name }: { name: string }) {
  const { legalName, address, taxNumber, contact } = useApi("GET /partners/:name", { name }).data ?? {};
  return [legalName ?? name, address, taxNumber, contact].map((line) => line && <p key={line}>{line}</p>);
}

/** A line for each side to sign a printed page; hidden on the screen. */
export function Signatures({ partner }: { partner: string }) {
  const { name } = useMe().provider.letterhead;
  const { legalName } = useApi("GET /partners/:name", { name: partner }).data ?? {};
  return (
    <div className="paper signatures">
      {[name ?? t.provider, legalName ?? partner].map((party) => (
        <p key={party}>{t.signed(party)}</p>
      ))}
    </div>
  );
}

import { useMe } from "../../api/session.tsx";
import type { Settlement } from "../../api/staff-api.d.ts";
import { Amount, Fact } from "../../components/display.tsx";
import { PaperHead } from "../../components/paper.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;

interface SettlementHeadProps {
  readonly settlement: Settlement;
  /** Empty for all partners. */
  readonly partner: string;
  /** The day of the provider's clock. */
  readonly today: string;
}

/** Head of a printed settlement; hidden on the screen. */
export function SettlementHead({ settlement, partner, today }: SettlementHeadProps) {
  const { number, from, to, open, total } = settlement;
  const { timeZone } = useMe().provider;
  const isTrial = useEnvironment() === "trial";
  return (
    <PaperHead title={[texts.shell.pages.settlement, number, open && t.preliminary].filter(Boolean).join(" ")}>
      <Fact label={t.partner} value={partner || t.allPartners} />
      <Fact label={t.period} value={t.lead(from, to, timeZone)} />
      <Fact label={t.issued} value={today} />
      <Fact label={isTrial ? t.net : t.netNote} value={<Amount of={total.net} />} />
      {isTrial && <Fact label={texts.shell.environment} value={t.trial} />}
    </PaperHead>
  );
}

/** A line for each side to sign a printed settlement; hidden on the screen. */
export function Signatures({ partner }: { partner: string }) {
  const { name } = useMe().provider.letterhead;
  return (
    <div className="paper signatures">
      {[name ?? t.provider, partner].map((party) => (
        <p key={party}>{t.signed(party)}</p>
      ))}
    </div>
  );
}

import { useEffect } from "react";
import { useMe } from "../../api/session.tsx";
import type { Settlement } from "../../api/staff-api.d.ts";
import { Amount, Fact, KeyValue } from "../../components/display.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;

interface PaperHeadProps {
  readonly settlement: Settlement;
  /** Empty for all partners. */
  readonly partner: string;
  /** By the provider's clock. */
  readonly today: string;
}

/** Head of a printed settlement; hidden on the screen. */
export function PaperHead({ settlement, partner, today }: PaperHeadProps) {
  const { number, from, to, open, total } = settlement;
  const { letterhead, timeZone } = useMe().provider;
  const { name, address, number: registration, tax } = letterhead;
  const isTrial = useEnvironment() === "trial";
  const title = [texts.shell.pages.settlement, number, open && t.preliminary].filter(Boolean).join(" ");
  // CSS cannot copy text of the page into the foot of each sheet.
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--paper-title", JSON.stringify(title));
    return () => void style.removeProperty("--paper-title");
  }, [title]);
  return (
    <header className="paper stack">
      <div>
        {name !== null && <p className="strong">{name}</p>}
        {[address, registration, tax].map((line) => line !== null && <p key={line}>{line}</p>)}
      </div>
      <h2>{title}</h2>
      <KeyValue>
        <Fact label={t.partner} value={partner || t.allPartners} />
        <Fact label={t.period} value={t.lead(from, to, timeZone)} />
        <Fact label={t.issued} value={today} />
        <Fact label={isTrial ? t.net : t.netNote} value={<Amount of={total.net} />} />
        {isTrial && <Fact label={texts.shell.environment} value={t.trial} />}
      </KeyValue>
    </header>
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

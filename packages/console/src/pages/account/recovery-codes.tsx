import { useState } from "react";
import { Button } from "../../components/button.tsx";
import { Card, Code } from "../../components/display.tsx";
import { Note } from "../../components/states.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.account;

/** Shown once, in place of the page. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [copied, setCopied] = useState<boolean>();
  const copy = () =>
    navigator.clipboard.writeText(codes.join("\n")).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <>
      <PageHead title={t.recoveryTitle} lead={t.recoveryLead} />
      <Card>
        <ol className="secret-codes" aria-label={t.recoveryList}>
          {codes.map((code) => (
            <li key={code}>
              <Code>{code}</Code>
            </li>
          ))}
        </ol>
        <div className="row no-print">
          <Button icon="copy" onClick={() => void copy()}>
            {t.copyAll}
          </Button>
          <Button onClick={() => window.print()}>{texts.common.print}</Button>
          <span className="muted" role="status">
            {copied === undefined ? "" : copied ? texts.common.copied : texts.common.copyFailed}
          </span>
        </div>
      </Card>
      <div className="no-print">
        <Note tone="warning">
          <p>{t.recoveryOnce}</p>
          <Button kind="primary" onClick={onClose}>
            {texts.common.kept}
          </Button>
        </Note>
      </div>
    </>
  );
}

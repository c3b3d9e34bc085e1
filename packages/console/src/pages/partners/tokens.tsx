import { useState } from "react";
import { useApi } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { AccessToken } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Code, Time } from "../../components/display.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { IssueToken, RevokeToken, RotateToken } from "./token-dialogs.tsx";

const t = texts.partners;

type Open = { readonly action: "issue" } | { readonly action: "rotate" | "revoke"; readonly token: AccessToken };

/** A partner's access tokens: those that hold, and on demand those that did. */
export function Tokens({ partner }: { partner: string }) {
  const tokens = useApi("GET /partners/:partner/tokens", { partner });
  const mayChange = useMay("administer");
  const [showsOld, setShowsOld] = useState(false);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <Card
      title={t.tokens}
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setOpen({ action: "issue" })}>
            {t.issue}
          </Button>
        )
      }
    >
      <Loaded of={tokens}>
        {({ items }) => {
          const shown = showsOld ? items : items.filter(({ state }) => state === "valid");
          const hidden = items.length - shown.length;
          return (
            <>
              {hidden > 0 && (
                <div className="row">
                  <Button kind="quiet" onClick={() => setShowsOld(true)}>
                    {t.showOld(hidden)}
                  </Button>
                </div>
              )}
              <DataTable
                label={t.tokens}
                columns={mayChange ? [...COLUMNS, actions(setOpen)] : COLUMNS}
                rows={shown}
                rowKey={({ id }) => id}
                empty={<EmptyState title={t.noTokens}>{t.noTokensHint}</EmptyState>}
              />
            </>
          );
        }}
      </Loaded>
      {open?.action === "issue" && <IssueToken partner={partner} onClose={close} />}
      {open?.action === "rotate" && <RotateToken partner={partner} token={open.token} onClose={close} />}
      {open?.action === "revoke" && <RevokeToken token={open.token} onClose={close} />}
    </Card>
  );
}

const TONES = { valid: "success", expired: "neutral", revoked: "danger" } as const;

const COLUMNS: readonly Column<AccessToken>[] = [
  { id: "id", header: t.token, cell: ({ id }) => <Code>{id}</Code> },
  { id: "environment", header: t.environment, cell: ({ environment }) => texts.common.environments[environment] },
  { id: "state", header: t.state, cell: ({ state }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
  { id: "issued", header: t.issued, cell: ({ createdAt }) => <Time of={createdAt} /> },
  {
    id: "ends",
    header: t.ends,
    cell: ({ expiresAt, revokedAt }) => {
      const end = revokedAt ?? expiresAt;
      return end === null ? texts.common.noEnd : <Time of={end} />;
    },
  },
  {
    id: "lastUse",
    header: t.lastUse,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.never : <Time of={lastUsedAt} age />),
  },
];

function actions(open: (next: Open) => void): Column<AccessToken> {
  return {
    id: "actions",
    header: texts.common.actions,
    hideHeader: true,
    cell: (token) =>
      token.state !== "valid" ? (
        token.replacedBy !== null && (
          <span className="muted">
            {t.replacedBy} <Code>{token.replacedBy}</Code>
          </span>
        )
      ) : (
        <span className="row">
          {token.replacedBy === null && (
            <Button aria-label={`${t.rotate} ${token.id}`} onClick={() => open({ action: "rotate", token })}>
              {t.rotate}
            </Button>
          )}
          <Button aria-label={`${t.revoke} ${token.id}`} onClick={() => open({ action: "revoke", token })}>
            {t.revoke}
          </Button>
        </span>
      ),
  };
}

import { useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import { useInCurrency, useMay, useMe } from "../../api/session.tsx";
import type { Account as AccountData, AccountEntryEffect } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import { ActionDialog, CorrectionDialog } from "../../components/dialog.tsx";
import { Amount, Badge, BeforeAfter, Grid, Stat } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { formatMoney, formatTime } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { Available } from "./available.tsx";
import { Commission } from "./commission.tsx";
import { Statement } from "./statement.tsx";

const t = texts.partnerAccounts;

/** The account of a partner in the chosen environment. */
export function Account({ partner }: { partner: string }) {
  const maySettle = useMay("settle");
  const account = useApi("GET /partners/:name/account", { name: partner, environment: useEnvironment() });
  return (
    <>
      <div className="no-print stack">
        <Loaded of={account}>
          {(found) => (
            <>
              <Figures account={found} />
              <Actions account={found} />
            </>
          )}
        </Loaded>
        <Commission partner={partner} />
      </div>
      {maySettle && <Statement partner={partner} />}
    </>
  );
}

function Figures({ account }: { account: AccountData }) {
  const { balance, balanceState, owing, creditLimit, alertBelow, currency } = account;
  const amountOr = (none: string, of: string | null) => (of === null ? none : <Amount of={of} />);
  return (
    <>
      <Grid>
        <Stat
          label={t.balance}
          value={<Amount of={balance} />}
          note={owing === "partner" && <Badge tone="danger">{t.owes}</Badge>}
        />
        <Stat
          label={t.available}
          value={<Available of={account} />}
          note={balanceState !== "good" && texts.partners.partnerStates[balanceState]}
        />
        <Stat label={t.creditLimit} value={amountOr(texts.common.none, creditLimit)} />
        <Stat label={t.alertBelow} value={amountOr(texts.common.none, alertBelow)} />
      </Grid>
      {creditLimit !== null && (
        <p className="muted">
          {Number(creditLimit) === 0 ? t.atZero : t.belowZero(formatMoney(creditLimit, currency))}
        </p>
      )}
    </>
  );
}

const KINDS = ["deposit", "withdrawal", "adjustment"] as const;
type Kind = (typeof KINDS)[number];

/** A button for each change of the account, and the dialog of the chosen one. */
function Actions({ account }: { account: AccountData }) {
  const [open, setOpen] = useState<Kind | "settings">();
  const [mayEnter, mayChange] = [useMay("settle"), useMay("administer")];
  const dialog = { account, onClose: () => setOpen(undefined) };
  return (
    <div className="row">
      {mayEnter &&
        KINDS.map((kind) => (
          <Button key={kind} onClick={() => setOpen(kind)}>
            {t.enter[kind]}
          </Button>
        ))}
      {mayChange && <Button onClick={() => setOpen("settings")}>{t.settings}</Button>}
      {open === "settings" ? (
        <SettingsDialog {...dialog} />
      ) : (
        open !== undefined && <EntryDialog {...dialog} kind={open} />
      )}
    </div>
  );
}

interface DialogProps {
  readonly account: AccountData;
  readonly onClose: () => void;
}

/** Enters an amount. The preview follows the fields. */
function EntryDialog({ account: { partner, environment }, kind, onClose }: DialogProps & { kind: Kind }) {
  const { currency } = useMe().provider;
  const inCurrency = useInCurrency();
  const [entry, setEntry] = useState({ amount: "", reference: "" });
  const isComplete = entry.amount !== "" && entry.reference !== "";
  const set = (name: keyof typeof entry, text: string) => setEntry({ ...entry, [name]: text.trim() });
  return (
    <CorrectionDialog
      correction="POST /partners/:name/account/entries"
      input={isComplete ? { name: partner, environment, kind, ...entry } : null}
      title={t.titles[kind]}
      description={t.purposes[kind]}
      submit={t.submits[kind]}
      isIdle={({ at }) => at !== null}
      show={(effect) => <Effect effect={effect} />}
      done={({ after, secondPerson }) => (secondPerson ? t.requested : t.entered(formatMoney(after, currency)))}
      onClose={onClose}
    >
      <Field name="amount" label={inCurrency(t.amount)} hint={kind === "adjustment" ? t.signHint : undefined}>
        <TextInput
          required
          inputMode={kind === "adjustment" ? "text" : "decimal"}
          maxLength={40}
          onChange={({ target }) => set("amount", target.value)}
        />
      </Field>
      <Field name="reference" label={t.reference} hint={t.referenceHint}>
        <TextInput required maxLength={64} onChange={({ target }) => set("reference", target.value)} />
      </Field>
    </CorrectionDialog>
  );
}

function Effect({ effect: { at, author, before, after, secondPerson } }: { effect: AccountEntryEffect }) {
  const { timeZone } = useMe().provider;
  if (at !== null) return <Note tone="warning">{t.wasEntered(formatTime(at, timeZone), author)}</Note>;
  const shown = (balance: string) => (
    <p className="strong">
      <Amount of={balance} />
    </p>
  );
  return (
    <>
      <BeforeAfter before={shown(before)} after={shown(after)} />
      {secondPerson && <p>{t.secondPerson}</p>}
    </>
  );
}

const SETTINGS = ["creditLimit", "alertBelow"] as const;

function SettingsDialog({ account, onClose }: DialogProps) {
  const { partner, environment } = account;
  const send = useSend("PATCH /partners/:name/account");
  const inCurrency = useInCurrency();
  return (
    <ActionDialog
      title={t.settingsTitle}
      description={t.settingsText}
      submit={texts.partners.limitsSave}
      onSubmit={async (values) => {
        // Another admin may have changed the other setting.
        const changed = SETTINGS.filter((name) => values.text(name) !== (account[name] ?? ""));
        const set = Object.fromEntries(changed.map((name) => [name, values.optional(name) ?? "none"]));
        const { secondPerson } = await send.mutateAsync({ name: partner, environment, ...set });
        return { toast: secondPerson ? t.requested : t.settingsDone };
      }}
      onClose={onClose}
    >
      {SETTINGS.map((name) => (
        <Field key={name} name={name} label={inCurrency(t[name])} hint={t.hints[name]}>
          <TextInput maxLength={40} defaultValue={account[name] ?? ""} />
        </Field>
      ))}
    </ActionDialog>
  );
}

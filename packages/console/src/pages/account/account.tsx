import { useState } from "react";
import { useMe } from "../../api/session.tsx";
import { Grid } from "../../components/display.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { PasswordCard } from "./password-card.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { TotpCard } from "./totp-card.tsx";

export default function Account() {
  const { name, role } = useMe();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  // They alone are on the page, so that they alone are printed.
  if (recoveryCodes) return <RecoveryCodes codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />;
  return (
    <>
      <PageHead
        title={texts.shell.pages.account}
        lead={
          <>
            {name} · {texts.account.lead(texts.common.roles[role])}
          </>
        }
      />
      <Grid wide>
        <PasswordCard />
        <TotpCard onSwitchedOn={setRecoveryCodes} />
      </Grid>
      <SessionsCard />
    </>
  );
}

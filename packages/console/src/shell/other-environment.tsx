import { useLocation } from "wouter";
import type { Environment } from "../api/names.ts";
import { Button } from "../components/button.tsx";
import { Note } from "../components/states.tsx";
import { texts } from "../texts/index.ts";
import { useEnvironmentChoice } from "./environment.tsx";

/** A note with a link if the shown record belongs to the other environment. */
export function OtherEnvironment({ of }: { of: Environment }) {
  const [environment] = useEnvironmentChoice();
  if (of === environment) return null;
  return (
    <Note tone="warning">
      <p>{texts.customers.otherEnvironment(texts.common.environments[of])}</p>
      <SwitchEnvironment to={of} />
    </Note>
  );
}

/** `href`: the page to go to there; this one unless given. */
export function SwitchEnvironment({ to, href }: { to: Environment; href?: string }) {
  const [, choose] = useEnvironmentChoice();
  const [, navigate] = useLocation();
  const go = () => {
    choose(to);
    if (href !== undefined) navigate(href);
  };
  return <Button onClick={go}>{texts.customers.switchTo(texts.common.environments[to])}</Button>;
}

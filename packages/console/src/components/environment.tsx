import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import type { Environment } from "../api/request.ts";
import { useMe } from "../api/session.tsx";
import { readStored, store } from "../storage.ts";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { Note } from "./states.tsx";

const EnvironmentContext = createContext<readonly [Environment, (next: Environment) => void] | undefined>(undefined);

/** Stores the environment per tab. A new tab starts with the provider's default. */
export function EnvironmentProvider({ children }: { children: ReactNode }) {
  const { provider } = useMe();
  const [environment, setEnvironment] = useState<Environment>(() => {
    const stored = readStored("environment", sessionStorage);
    return stored === "trial" || stored === "production" ? stored : provider.environment;
  });
  const value = useMemo(() => {
    const choose = (next: Environment) => {
      store("environment", next, sessionStorage);
      setEnvironment(next);
    };
    return [environment, choose] as const;
  }, [environment]);
  return <EnvironmentContext value={value}>{children}</EnvironmentContext>;
}

/** The environment that the pages show. */
export function useEnvironment(): Environment {
  return useEnvironmentChoice()[0];
}

export function useEnvironmentChoice() {
  const value = useContext(EnvironmentContext);
  if (value === undefined) throw new Error("There is no environment outside of the shell");
  return value;
}

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

/** Switches the environment of this page. */
export function SwitchEnvironment({ to }: { to: Environment }) {
  const [, choose] = useEnvironmentChoice();
  return <Button onClick={() => choose(to)}>{texts.customers.switchTo(texts.common.environments[to])}</Button>;
}

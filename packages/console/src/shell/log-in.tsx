import { useState } from "react";
import { useApi } from "../api/hooks.ts";
import { ApiProblem } from "../api/problem.ts";
import { expectSession, issuerUrl, useLogIn, useSessionEnd } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { TextInput } from "../components/controls.tsx";
import { Field, Form, type FormValues } from "../components/form.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Note } from "../components/states.tsx";
import { FirstAdmin } from "../setup/first-admin.tsx";
import { setup } from "../setup/texts.ts";
import { texts } from "../texts/index.ts";
import { Brand } from "./brand.tsx";

/** Why a log-in with OpenID Connect failed. */
const PAGE = new URL(location.href);
const PROBLEM = PAGE.searchParams.get("logInProblem");
PAGE.searchParams.delete("logInProblem");
if (PROBLEM !== null) history.replaceState(null, "", PAGE);

/** Replaces every page until log-in. The address stays, so the wanted page follows. */
export function LogIn() {
  const logIn = useLogIn();
  const end = useSessionEnd();
  /** Accepted name and password, while the one-time code is missing. */
  const [known, setKnown] = useState<{ name: string; password: string }>();
  const { data: ways, error } = useApi("GET /session/ways");
  const isFirst = ways?.firstAdmin === true;
  const t = texts.login;
  const problem = Object.entries(t.problems).find(([code]) => code === PROBLEM)?.[1];

  const submit = async (values: FormValues) => {
    const { name, password } = known ?? { name: values.text("name"), password: values.raw("password") };
    try {
      await logIn(name, password, values.optional("code"));
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === "code_required" && known === undefined)) throw error;
      setKnown({ name, password });
    }
  };

  return (
    <main className="log-in">
      <div className="log-in-card">
        <Brand />
        <PageHead title={isFirst ? setup.title : t.title} />
        {end !== undefined && problem === undefined && <Note>{end}</Note>}
        {problem !== undefined && <Note tone="danger">{problem}</Note>}
        {isFirst && <FirstAdmin />}
        {!isFirst && (ways?.password === true || error !== null) && (
          <Form
            key={known === undefined ? "password" : "code"}
            submit={t.submit}
            onSubmit={submit}
            actions={
              known && (
                <Button kind="quiet" onClick={() => setKnown(undefined)}>
                  {t.startAgain}
                </Button>
              )
            }
          >
            {known === undefined ? (
              <>
                <Field name="name" label={t.name}>
                  <TextInput required autoComplete="username" autoCapitalize="none" autoFocus />
                </Field>
                <Field name="password" label={t.password}>
                  <TextInput required type="password" autoComplete="current-password" />
                </Field>
              </>
            ) : (
              <Field name="code" label={t.code} hint={t.codeHint}>
                <TextInput required autoComplete="one-time-code" autoCapitalize="none" autoFocus />
              </Field>
            )}
          </Form>
        )}
        {ways?.issuer && (
          <a
            className={`button button-${ways.password ? "plain" : "primary"}`}
            href={issuerUrl()}
            onClick={expectSession}
          >
            {t.issuer(ways.issuer)}
          </a>
        )}
      </div>
    </main>
  );
}

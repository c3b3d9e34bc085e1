import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { createClient, MeContext, useSession } from "../api/session.tsx";
import { ErrorBoundary } from "../components/page-head.tsx";
import { ErrorNote, Loading } from "../components/states.tsx";
import { ToastProvider } from "../components/toasts.tsx";
import { groupDigits } from "../format.ts";
import { LogIn } from "./log-in.tsx";

/** Shows the pages to a person who is logged in, and the log-in to others. */
export function Frame({ children }: { children: ReactNode }) {
  const [client] = useState(createClient);
  return (
    <ErrorBoundary>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <LetIn>{children}</LetIn>
        </ToastProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

function LetIn({ children }: { children: ReactNode }) {
  const { data: me, error, refetch } = useSession();
  if (me === null) return <LogIn />;
  if (me === undefined) {
    return (
      <main className="page">
        {error === null ? <Loading /> : <ErrorNote error={error} onRetry={() => void refetch()} />}
      </main>
    );
  }
  groupDigits(me.provider.numberGrouping);
  return <MeContext value={me}>{children}</MeContext>;
}

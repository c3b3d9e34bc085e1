import type { ReactNode } from "react";
import { ErrorNote, Loading } from "./states.tsx";

interface PreviewedProps<Effect> {
  /** A result of useCorrection. */
  readonly of: { readonly effect: Effect | undefined; readonly error: Error | null; readonly isReady: boolean };
  readonly children: (effect: Effect) => ReactNode;
}

/** Preview of a correction, or the reason why it is refused; announced to screen readers. */
export function Previewed<Effect>({ of: { effect, error, isReady }, children }: PreviewedProps<Effect>) {
  if (error !== null) return <ErrorNote error={error} />;
  if (effect === undefined) return <Loading />;
  return (
    <div role="status" className={isReady ? undefined : "outdated"}>
      {children(effect)}
    </div>
  );
}

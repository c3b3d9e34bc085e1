import { type ReactNode, useEffect, useRef } from "react";

/** What a form found, below it: the focus goes there when it shows. A `key` makes another of another finding. */
export function Result({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} className="result stack" tabIndex={-1}>
      {children}
    </div>
  );
}

import { type ReactNode, useEffect, useRef } from "react";

/** Result below a form. It takes the focus when it appears; a new `key` makes a new result. */
export function Result({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} className="result stack" tabIndex={-1}>
      {children}
    </div>
  );
}

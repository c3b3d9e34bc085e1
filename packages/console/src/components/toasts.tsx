import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { texts } from "../texts/index.ts";
import { Icon } from "./button.tsx";

const SHOWN_MS = 6_000;

interface Toast {
  readonly id: number;
  readonly text: string;
}

const ToastContext = createContext<(text: string) => void>(() => {});

/** Confirms finished actions. Failures are shown by an ErrorNote at their place. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const next = useRef(0);
  const remove = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);
  const add = useCallback((text: string) => {
    next.current += 1;
    const toast = { id: next.current, text };
    setToasts((shown) => [...shown.slice(-2), toast]);
  }, []);
  return (
    <ToastContext value={add}>
      {children}
      <section className="toasts" aria-live="polite" aria-label={texts.shell.notifications}>
        {toasts.map(({ id, text }) => (
          <ToastNote key={id} text={text} onEnd={() => remove(id)} />
        ))}
      </section>
    </ToastContext>
  );
}

function ToastNote({ text, onEnd }: { text: string; onEnd: () => void }) {
  const [held, setHeld] = useState(false);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => end.current(), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held]);
  return (
    <div
      className="toast"
      role="status"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name="check" />
      <span>{text}</span>
      <button type="button" className="icon-button" aria-label={texts.shell.dismiss} onClick={onEnd}>
        <Icon name="close" />
      </button>
    </div>
  );
}

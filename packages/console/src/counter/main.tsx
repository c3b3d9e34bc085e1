import "../styles/base.css";
import "../styles/components.css";
import "../styles/shell.css";
import "./counter.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { applyStoredTheme } from "../shell/theme.ts";
import { App } from "./app.tsx";

applyStoredTheme();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

import { useLocation } from "wouter";
import { useLogOut, useMe } from "../api/session.tsx";
import { Icon } from "../components/button.tsx";
import { Menu, MenuChoice, MenuItem, MenuLine } from "../components/menu.tsx";
import { useToast } from "../components/toasts.tsx";
import { texts } from "../texts/index.ts";
import { useTheme } from "./theme.ts";

const t = texts.shell;

/** `onKeys` lists the keyboard shortcuts, if there are any. */
export function AccountMenu({ onKeys }: { onKeys?: () => void }) {
  const { name, role } = useMe();
  const [, navigate] = useLocation();
  const { theme, themes, choose } = useTheme();
  const logOut = useLogOut();
  const toast = useToast();
  return (
    <Menu quiet label={`${t.account}: ${name}`} trigger={<Icon name="person" />}>
      <p className="menu-who">
        <strong>{name}</strong>
        <span className="muted">{texts.common.roles[role]}</span>
      </p>
      <MenuLine />
      <MenuItem onSelect={() => navigate("/account")}>{t.pages.account}</MenuItem>
      {onKeys && <MenuItem onSelect={onKeys}>{t.keys}</MenuItem>}
      <MenuLine />
      <MenuChoice
        label={t.theme}
        value={theme}
        options={themes.map((one) => [one, t.themes[one]] as const)}
        onChoose={choose}
      />
      <MenuLine />
      <MenuItem onSelect={() => void logOut().catch((error: Error) => toast(error.message))}>{t.logOut}</MenuItem>
    </Menu>
  );
}

import { useState } from "react";
import type { Role } from "../../api/names.ts";
import { Select } from "../../components/controls.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";

export const ROLES: readonly Role[] = ["viewer", "support", "finance", "admin"];

/** Says what the chosen role may do. */
export function RoleField({ initially = "viewer" }: { initially?: Role }) {
  const [role, setRole] = useState(initially);
  return (
    <Field name="role" label={texts.staff.role} hint={texts.staff.roleTexts[role]}>
      <Select
        value={role}
        options={ROLES.map((one) => [one, texts.common.roles[one]] as const)}
        onChange={({ target }) => setRole(target.value as Role)}
      />
    </Field>
  );
}

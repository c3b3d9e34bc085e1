/**
 * A new name of a partner, a person or a system: 1 to 64 characters, no blank at either end. The space is the only
 * character that looks blank, so that no two names look the same.
 */
export const NAME = /^(?! )(?:[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]| ){1,64}(?<! )$/u;

/** The same, of a person: `key NAME` is how the audit trail names a system. */
export const STAFF_NAME = new RegExp(`^(?!key )${NAME.source.slice(1)}`, "u");

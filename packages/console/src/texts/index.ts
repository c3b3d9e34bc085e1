// A namespace, so that the counter is built without the areas that it does not use.
/** All texts of the console, one file per area. */
export * as texts from "./areas.ts";

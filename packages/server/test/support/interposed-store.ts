import type { Store } from "../../src/store/store.ts";

/** What is done in place of a store's method. It is given the method, and what that was called with. */
export type Instead = (method: (...args: unknown[]) => unknown, args: unknown[]) => unknown;

/** Stands between a service and its store. @param instead by the name of the method; a test may change it at any time. */
export function interposed(instead: ReadonlyMap<string, Instead>): (store: Store) => Store {
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        const method = (...args: unknown[]) => Reflect.apply(value, target, args) as unknown;
        return (...args: unknown[]) => instead.get(String(name))?.(method, args) ?? method(...args);
      },
    });
}

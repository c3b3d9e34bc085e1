import { apiUrl } from "../src/api/client.ts";
import { useApi, useCorrection, usePages, usePoll, useSend, useUpload } from "../src/api/hooks.ts";
import { asInput } from "../src/api/request.ts";

/* Each line below the directive must fail to compile; tsc checks that, and nothing runs. */

export function useWrongRequests() {
  // @ts-expect-error No operation has this path.
  useApi("GET /partnrs");
  // @ts-expect-error A change is no reading.
  useApi("POST /partners", { name: "wallet" });
  // @ts-expect-error The path needs a name.
  useApi("GET /partners/:name");
  // @ts-expect-error The path needs a name.
  useApi("GET /partners/:name", {});
  // @ts-expect-error It takes no input.
  useApi("GET /partners", { status: "active" });
  // @ts-expect-error No filter has this name.
  usePages("GET /transactions", { enviroment: "trial" });
  // @ts-expect-error No service has this name.
  usePages("GET /transactions", { service: "telex" });
  // @ts-expect-error It answers no list.
  usePages("GET /health", {});
  // @ts-expect-error The answer has no such field.
  usePoll("GET /bulk/:id", { id: 1 }, ({ finished }) => finished);
  // @ts-expect-error It is no download.
  apiUrl("GET /transactions", {});
  // @ts-expect-error No filter has this name.
  asInput("GET /transactions", { enviroment: "trial" });
}

export function useWrongChanges(file: File) {
  const { mutate } = useSend("POST /partners/:partner/tokens");
  mutate({ partner: "wallet", environment: "trial" });
  // @ts-expect-error The path needs a name.
  mutate({ environment: "trial" });
  // @ts-expect-error It takes no field of this name.
  mutate({ partner: "wallet", expires: "2026-12-31" });
  // @ts-expect-error A reading is no change.
  useSend("GET /partners");
  // @ts-expect-error It takes no file.
  useUpload("POST /partners");
  // @ts-expect-error It takes no field of this name.
  useUpload("POST /catalogue").mutate({ file, allowLarge: true });
  // @ts-expect-error It has no preview.
  useCorrection("POST /partners", { name: "wallet" });
  const block = { cuid: "1", service: "tv", reqId: "1", blocked: true } as const;
  const { effect } = useCorrection("POST /customers/:cuid/block", block);
  // @ts-expect-error The answer has no such field.
  return effect?.after;
}

export function useWrongAnswer() {
  const { data } = useApi("GET /partners");
  // @ts-expect-error The answer has no such field.
  return data?.items[0]?.token;
}

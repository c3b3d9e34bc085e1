import { ApiProblem } from "./problem.ts";
import type { Problem } from "./types.ts";

const BASE = "/api/v1";

/** What goes into the address: what is undefined, null or "" is left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** What a changing request sends. */
export interface Sent {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** Idempotency-Key: the same again for the same submit. None for a preview. */
  readonly key?: string | undefined;
}

/** The staff API. @throws ApiProblem */
export const api = {
  get: <Answer>(path: string, query?: Query, signal?: AbortSignal) =>
    request<Answer>("GET", path, { query }, signal ?? null),
  post: <Answer>(path: string, sent: Sent = {}) => request<Answer>("POST", path, sent),
  put: <Answer>(path: string, sent: Sent = {}) => request<Answer>("PUT", path, sent),
  patch: <Answer>(path: string, sent: Sent = {}) => request<Answer>("PATCH", path, sent),
  delete: <Answer>(path: string, sent: Sent = {}) => request<Answer>("DELETE", path, sent),
  upload,
};

/** The address of something of the API, for a link that downloads it. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? BASE + path : `${BASE + path}?${search}`;
}

async function request<Answer>(method: string, path: string, sent: Sent, signal: AbortSignal | null = null) {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (sent.body !== undefined) headers["Content-Type"] = "application/json";
  if (sent.key !== undefined) headers["Idempotency-Key"] = sent.key;
  const body = sent.body === undefined ? null : JSON.stringify(sent.body);
  const answer = await fetch(apiUrl(path, sent.query), { method, headers, body, signal }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiProblem(UNREACHABLE);
    },
  );
  return readAnswer<Answer>(answer.status, answer.text);
}

/** Sends a file as the body, which `fetch` cannot tell the progress of. */
function upload<Answer>(
  method: "POST" | "PUT",
  path: string,
  file: File,
  { query, key }: Omit<Sent, "body">,
  onProgress: (share: number) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open(method, apiUrl(path, { name: file.name, ...query }));
    call.setRequestHeader("Content-Type", /\.csv$/i.test(file.name) ? "text/csv" : "application/x-ndjson");
    if (key !== undefined) call.setRequestHeader("Idempotency-Key", key);
    call.upload.onprogress = (event) => onProgress(event.total === 0 ? 1 : event.loaded / event.total);
    call.onerror = () => reject(new ApiProblem(UNREACHABLE));
    call.onload = () => {
      try {
        resolve(readAnswer<Answer>(call.status, call.responseText));
      } catch (error) {
        reject(error as ApiProblem);
      }
    };
    call.send(file);
  });
}

function readAnswer<Answer>(status: number, text: string): Answer {
  const parsed = text === "" ? undefined : parse(text);
  if (status >= 200 && status < 300) return parsed as Answer;
  const problem = parsed as Partial<Problem> | undefined;
  throw new ApiProblem({ ...FAILED, title: `topupd answered ${status}.`, ...problem, status });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const FAILED: Problem = { type: "about:blank", title: "", status: 0, code: "unknown" };
const UNREACHABLE: Problem = { ...FAILED, title: "topupd does not answer.", code: "unreachable" };

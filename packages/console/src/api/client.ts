import { ApiProblem, type Problem } from "./problem.ts";
import {
  type Answer,
  type ApiRequest,
  type DownloadKey,
  type Input,
  type Key,
  requestOf,
  type UploadKey,
} from "./request.ts";

const BASE = "/api/v1";

interface Sending {
  readonly signal?: AbortSignal;
  /** Same key for each repeat of one change; undefined for a preview. */
  readonly idempotencyKey?: string;
  /** Whether no person asked: such a request does not keep the session open. */
  readonly isPoll?: boolean;
}

/** Calls an operation of the staff API. @throws ApiProblem */
export async function ask<K extends Key>(key: K, input: Input<K>, { signal, idempotencyKey, isPoll }: Sending = {}) {
  const request = requestOf(key, input);
  const { method } = request;
  const headers: Record<string, string> = { Accept: "application/json" };
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
  if (isPoll === true) headers["Topupd-Poll"] = "1";
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  const answer = await fetch(urlOf(request), { method, headers, body, signal: signal ?? null }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiProblem(UNREACHABLE);
    },
  );
  return readAnswer<Answer<K>>(answer.status, answer.text);
}

/** Address of a download. */
export function apiUrl<K extends DownloadKey>(key: K, input: Input<K>): string {
  return urlOf(requestOf(key, input));
}

/** URL of a request. Values that are undefined, null or "" are left out. */
function urlOf({ path, query }: Pick<ApiRequest, "path" | "query">): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? BASE + path : `${BASE + path}?${search}`;
}

/** Sends a file with XMLHttpRequest: `fetch` does not report upload progress. @throws ApiProblem */
export function upload<K extends UploadKey>(
  key: K,
  input: Input<K>,
  idempotencyKey: string,
  onProgress: (share: number) => void,
): Promise<Answer<K>> {
  const { file } = input;
  const { method, path, query } = requestOf(key, input);
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open(method, urlOf({ path, query: { name: file.name, ...query } }));
    call.setRequestHeader("Content-Type", /\.csv$/i.test(file.name) ? "text/csv" : "application/x-ndjson");
    call.setRequestHeader("Idempotency-Key", idempotencyKey);
    call.upload.onprogress = (event) => onProgress(event.total === 0 ? 1 : event.loaded / event.total);
    call.onerror = () => reject(new ApiProblem(UNREACHABLE));
    call.onload = () => {
      try {
        resolve(readAnswer<Answer<K>>(call.status, call.responseText));
      } catch (error) {
        reject(error as ApiProblem);
      }
    };
    call.send(file);
  });
}

function readAnswer<Given>(status: number, text: string): Given {
  const parsed = text === "" ? undefined : parse(text);
  if (status >= 200 && status < 300) return parsed as Given;
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

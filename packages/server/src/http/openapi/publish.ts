import type { FastifyInstance } from "fastify";
import type { ProviderSettings } from "../../store/store.ts";
import { JSON_TYPE } from "../failures.ts";
import type { Retirement } from "../retirement.ts";
import { VERSIONS } from "../versions/versions.ts";
import { openApiDocument } from "./document.ts";
import { servePages } from "./pages.ts";
import { serveResource } from "./resource.ts";

export interface PublishOptions {
  readonly prefix: string;
  readonly provider: ProviderSettings;
  readonly retirements: Readonly<Record<string, Retirement>>;
}

/** Serves the contract of each version at `/openapi/{version}.json`, and pages made of them at `/docs`. */
export function publishContract(app: FastifyInstance, { prefix, provider, retirements }: PublishOptions): void {
  const documents = VERSIONS.map((version) => ({
    name: version.name,
    url: `/openapi/${version.name}.json`,
    make: () => openApiDocument(version, { prefix, provider, retirement: retirements[version.name] }),
  }));
  for (const { url, make } of documents) {
    serveResource(app, url, { type: JSON_TYPE, load: () => Buffer.from(JSON.stringify(make())) });
  }
  servePages(app, documents);
}

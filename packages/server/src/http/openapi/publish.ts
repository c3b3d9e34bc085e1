import type { FastifyInstance } from "fastify";
import type { ProviderSettings } from "../../store/store.ts";
import { JSON_TYPE } from "../failures.ts";
import type { Retirement } from "../retirement.ts";
import { VERSIONS } from "../versions/versions.ts";
import { openApiDocument } from "./document.ts";

/** What the pages may load, and where they may send to: this host and no other. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><text x="0" y="28" fill="#fff" font-family="sans-serif" font-size="24">topupd</text></svg>`;

export interface PublishOptions {
  readonly prefix: string;
  readonly provider: ProviderSettings;
  readonly retirements: Readonly<Record<string, Retirement>>;
}

/** Serves the contract of each version at `/openapi/{version}.json`, and pages made of them at `/docs`. */
export async function publishContract(app: FastifyInstance, options: PublishOptions): Promise<void> {
  const { prefix, provider, retirements } = options;
  const documents = VERSIONS.map((version) => ({
    name: version.name,
    url: `/openapi/${version.name}.json`,
    document: openApiDocument(version, {
      prefix,
      provider,
      isDeprecated: retirements[version.name]?.deprecatedAt !== undefined,
    }),
  }));
  for (const { url, document } of documents) {
    const text = JSON.stringify(document);
    app.get(url, (_request, reply) => {
      reply.header("content-type", JSON_TYPE).send(text);
    });
  }
  await app.register(async (scope) => {
    // Loaded here and not before: no command but those that serve needs them.
    const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
      import("@fastify/swagger"),
      import("@fastify/swagger-ui"),
    ]);
    await scope.register(swagger, {
      mode: "static",
      specification: { document: documents[0]?.document as never },
    });
    await scope.register(swaggerUi, {
      routePrefix: "/docs",
      staticCSP: CONTENT_SECURITY_POLICY,
      uiConfig: {
        urls: documents.map(({ name, url }) => ({ name, url: `..${url}` })),
        "urls.primaryName": documents[0]?.name,
        validatorUrl: null,
        deepLinking: true,
        persistAuthorization: false,
      } as never,
      theme: { title: "topupd: the interface" },
      logo: { type: "image/svg+xml", content: Buffer.from(LOGO) },
    });
  });
}

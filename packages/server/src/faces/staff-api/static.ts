import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** Files whose names have a hash of what is in them. */
const ASSETS = "assets";
const YEAR_SECONDS = 31_536_000;

/**
 * Serves the built console. Its pages are addresses in one document, which is given for every path that is no file.
 * @param folder undefined, or without the document, where there is only the API to serve.
 * @returns whether there is a console.
 */
export async function serveConsoleFiles(app: FastifyInstance, folder: string | undefined): Promise<boolean> {
  if (folder === undefined || !existsSync(join(folder, "index.html"))) return false;
  await app.register(fastifyStatic, {
    root: folder,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isAsset = path.startsWith(join(folder, ASSETS));
      reply.setHeader("cache-control", isAsset ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache");
    },
  });
  return true;
}

/** Whether a path that is no file is one of the console's pages. */
export function isPage({ url, method }: { readonly url: string; readonly method: string }): boolean {
  return (method === "GET" || method === "HEAD") && !url.startsWith(`/${ASSETS}/`);
}

# The image of topupd: `docker build --tag topupd .`
# docs/setup.md says how to run it, alone or with PostgreSQL and a proxy.

# Debian instead of Alpine, because Node's own releases are built and tested for glibc only. 24 has long-term support;
# topupd is checked with 26 too. The version floats within 24, because new time zone rules come with Node.
ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/conformance/package.json packages/conformance/
COPY packages/console/package.json packages/console/
COPY packages/demo/package.json packages/demo/
COPY packages/radius/package.json packages/radius/
RUN npm ci --ignore-scripts
COPY tsconfig.base.json ./
COPY docs/partner-guide.md docs/interface.md docs/failures.md docs/
COPY packages/server/build.mjs packages/server/pages.mjs packages/server/
COPY packages/server/src packages/server/src
COPY packages/console/index.html packages/console/tsconfig.json packages/console/vite.config.ts packages/console/
COPY packages/console/src packages/console/src
COPY packages/demo/src packages/demo/src
COPY packages/radius/src packages/radius/src
RUN npm run --silent build --workspace topupd

FROM ${NODE} AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/conformance/package.json packages/conformance/
COPY packages/console/package.json packages/console/
COPY packages/demo/package.json packages/demo/
COPY packages/radius/package.json packages/radius/
RUN npm ci --ignore-scripts --omit=dev
# Removes half of the installed size: SQLite's source, and binaries for other systems.
RUN cd node_modules/@photostructure/sqlite \
 && rm -r src \
 && find prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-*" -exec rm -r {} +

FROM ${NODE}
ENV NODE_ENV=production \
    TOPUPD_HOST=0.0.0.0 \
    TOPUPD_PORT=8080 \
    TOPUPD_DATABASE=sqlite:/var/lib/topupd/topupd.db \
    TMPDIR=/var/tmp
WORKDIR /app
COPY --from=dependencies /app ./
COPY packages/server/bin packages/server/bin
COPY deploy/healthcheck.mjs ./
COPY --from=build /build/packages/server/dist packages/server/dist
# A new volume gets owner and mode of this folder.
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/topupd
VOLUME /var/lib/topupd
# The program belongs to root: the process can write only its database.
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
# /healthz instead of /readyz: an unavailable database must not restart all containers, since a restart does not help.
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "/app/healthcheck.mjs", "/healthz"]
# No shell, so that signals reach node.
ENTRYPOINT ["node", "/app/packages/server/bin/topupd.js"]
CMD ["serve"]

# The image of topupd: `docker build --tag topupd .`
# docs/setup.md says how to run it, alone or with PostgreSQL and a proxy.

# Debian and not Alpine: the SQLite module comes compiled for both of their C libraries, but Node's own
# releases are made and tested for glibc only. 24 has long-term support; topupd is checked with 26 too.
# It floats within 24 on purpose: the rules of time zones come with Node, and a pinned one would never learn of new ones.
ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/conformance/package.json packages/conformance/
COPY packages/console/package.json packages/console/
COPY packages/demo/package.json packages/demo/
RUN npm ci --ignore-scripts
COPY tsconfig.base.json ./
COPY docs/partner-guide.md docs/interface.md docs/failures.md docs/
COPY packages/server/build.mjs packages/server/pages.mjs packages/server/
COPY packages/server/src packages/server/src
COPY packages/console/index.html packages/console/tsconfig.json packages/console/vite.config.ts packages/console/
COPY packages/console/src packages/console/src
COPY packages/demo/src packages/demo/src
RUN npm run --silent build --workspace topupd

FROM ${NODE} AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY packages/server/package.json packages/server/
COPY packages/client/package.json packages/client/
COPY packages/conformance/package.json packages/conformance/
COPY packages/console/package.json packages/console/
COPY packages/demo/package.json packages/demo/
RUN npm ci --ignore-scripts --omit=dev
# Half of what is installed: SQLite's source, and what was compiled for other systems.
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
# A new volume takes owner and mode from here.
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/topupd
VOLUME /var/lib/topupd
# What it runs belongs to root: the process can write its database and nothing else.
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
# /healthz and not /readyz: where a failed check restarts the container, a database that is away for a
# while would restart them all, and no restart brings it back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "/app/healthcheck.mjs", "/healthz"]
# No shell in between: signals reach node.
ENTRYPOINT ["node", "/app/packages/server/bin/topupd.js"]
CMD ["serve"]

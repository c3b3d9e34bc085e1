# The image of topupd: `npm ci && npm run package -- tree && docker build --tag topupd .`
# docs/setup.md says how to run it, alone or with PostgreSQL and a proxy.

# Debian instead of Alpine, because Node's own releases are built and tested for glibc only. Node comes with the tree.
FROM debian:bookworm-slim
# amd64 or arm64, set by docker build. `--arch` of the tree must be the same.
ARG TARGETARCH
ENV NODE_ENV=production \
    TOPUPD_HOST=0.0.0.0 \
    TOPUPD_PORT=8080 \
    TOPUPD_DATABASE=sqlite:/var/lib/topupd/topupd.db \
    TMPDIR=/var/tmp
# A new volume gets owner and mode of this folder. The fixed uid keeps volumes usable by newer images.
RUN useradd --user-group --uid 1000 --home-dir /var/lib/topupd --shell /usr/sbin/nologin topupd \
 && install --directory --owner=topupd --group=topupd --mode=0700 /var/lib/topupd
COPY dist/tree-${TARGETARCH} /
COPY deploy/healthcheck.mjs /usr/lib/topupd/
VOLUME /var/lib/topupd
WORKDIR /var/lib/topupd
# The program belongs to root: the process can write only its database.
USER topupd
EXPOSE 8080
STOPSIGNAL SIGTERM
# /healthz instead of /readyz: an unavailable database must not restart all containers, since a restart does not help.
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["/usr/lib/topupd/node", "/usr/lib/topupd/healthcheck.mjs", "/healthz"]
# No shell, so that signals reach node.
ENTRYPOINT ["/usr/lib/topupd/node", "/usr/lib/topupd/bin/topupd.js"]
CMD ["serve"]

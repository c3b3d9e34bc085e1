// The container's health check: asks this container's own process, since the image has no curl.
// Port and address come from the environment only: a container whose `serve` is given --port needs a check of its own.
const [path = "/healthz"] = process.argv.slice(2);
const port = process.env.TOPUPD_PORT ?? "8080";
const isWell = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isWell ? 0 : 1);

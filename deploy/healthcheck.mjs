// The container's health check, because the image has no curl. It reads port and address from the environment only: a
// container with other flags for `serve` needs its own check.
const [path = "/healthz"] = process.argv.slice(2);
const { TOPUPD_HOST: host = "0.0.0.0", TOPUPD_PORT: port = "8080" } = process.env;
const everywhere = { "0.0.0.0": "127.0.0.1", "::": "::1" };
const address = everywhere[host] ?? host;
const origin = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
const isWell = await fetch(`${origin}${path}`, { signal: AbortSignal.timeout(4_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isWell ? 0 : 1);

import { randomInt } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdtempSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyEmbedded, giveTo } from "./postgres-files.ts";
import { keep } from "./postgres-keeper.ts";
import { findPostgres, HOW_TO_GET_POSTGRES, programIn, serverUser } from "./postgres-programs.ts";

export interface PostgresServer {
  /** Of a superuser, to the maintenance database. */
  readonly url: string;
  /**
   * Ends the server at once, as a crash would (`immediate`), or in order, with word to its sessions (`fast`).
   * Resolves when it is gone.
   */
  stop(mode: "immediate" | "fast"): Promise<void>;
  /** Starts it again on the same port and data. Resolves when it takes connections. */
  start(): Promise<void>;
  /**
   * Restarts it, and starts a standby that begins as a copy of it and follows it.
   * @param through the port that the standby connects to (default: the server's own).
   */
  startStandby(through?: number): Promise<PostgresServer>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

/** Of PostgreSQL, as its configuration file takes them. */
type PostgresSettings = Readonly<Record<string, string>>;

type ServerUser = ReturnType<typeof serverUser>;

const SIGNALS = { immediate: "SIGQUIT", fast: "SIGINT" } as const;

const SETTINGS: PostgresSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "64MB",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
};

/** A folder of Linux's. */
const MEMORY = "/dev/shm";
/** Ten times what one server of the tests comes to, its log of 256 MB included. */
const PLENTY_BYTES = 4 * 2 ** 30;

/**
 * Makes a new, empty cluster in a temporary folder and starts it on a free port of the loopback address.
 * @param placeFor where the folder is made.
 */
export async function startPostgres(settings: PostgresSettings = {}, placeFor = memoryFor): Promise<PostgresServer> {
  return startCluster(settings, placeFor, async ({ keeper, found, bin, user, data }) => {
    const initial = ["-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    await keeper.run({ command: programIn(bin, "initdb"), args: initial, user }).catch((cause: unknown) => {
      throw new Error(`the ${found.kind} PostgreSQL makes no cluster: ${String(cause)} ${HOW_TO_GET_POSTGRES}`, {
        cause,
      });
    });
  });
}

interface Cluster {
  readonly keeper: ReturnType<typeof keep>;
  readonly found: Awaited<ReturnType<typeof findPostgres>>;
  /** The folder of its programs. */
  readonly bin: string;
  readonly user: ServerUser;
  readonly data: string;
}

async function startCluster(
  settings: PostgresSettings,
  placeFor: (user: ServerUser) => string,
  makeData: (cluster: Cluster) => unknown,
): Promise<PostgresServer> {
  const found = await findPostgres();
  const user = serverUser();
  const folder = mkdtempSync(join(placeFor(user), "topupd-postgres-"));
  const keeper = keep(folder);
  const data = join(folder, "data");
  try {
    const bin = join(found.kind === "embedded" ? copyEmbedded(found.folder, folder) : found.folder, "bin");
    giveTo(user, folder);
    await makeData({ keeper, found, bin, user, data });
    const command = programIn(bin, "postgres");
    const start = (port: number) =>
      keeper.run({
        command,
        args: ["-D", data, ...asArguments({ ...SETTINGS, ...settings, port: `${port}` })],
        user,
        data,
      });
    const port = await startOnFreePort(start);
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      stop: (mode) => keeper.stop(SIGNALS[mode]),
      start: () => start(port),
      async startStandby(through = port) {
        await keeper.stop(SIGNALS.fast);
        const plain = "sslmode=disable gssencmode=disable";
        const following = { ...settings, primary_conninfo: `host=127.0.0.1 port=${through} user=postgres ${plain}` };
        return startCluster(following, placeFor, async (its) => {
          cpSync(data, its.data, { recursive: true });
          writeFileSync(join(its.data, "standby.signal"), "");
          chmodSync(its.data, 0o700);
          giveTo(user, its.data);
          await start(port);
        });
      },
      close: () => keeper.close(),
    };
  } catch (error) {
    await keeper.close();
    throw error;
  }
}

/** Memory if possible: making and dropping a database for each test is mostly flushing its files. */
function memoryFor(user: ServerUser): string {
  return plentyOfMemory() ?? diskFor(user);
}

/** A folder in memory, where there is plenty. */
export function plentyOfMemory(): string | undefined {
  if (!existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > PLENTY_BYTES ? MEMORY : undefined;
}

/** What TMPDIR names may be closed to the user that the server of root runs as. */
export function diskFor({ uid }: ServerUser): string {
  return uid === undefined ? tmpdir() : "/tmp";
}

function asArguments(settings: PostgresSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/**
 * Below the ports that systems give to whoever asks for any: no other test can be given the port while the server is
 * stopped, nor can a client that tries to reach the stopped server be given it as its own and so reach itself.
 */
async function startOnFreePort(start: (port: number) => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(20_000, 32_768);
    try {
      await start(port);
      return port;
    } catch (error) {
      if (attempt === 10 || !/could not bind/.test(String(error))) throw error;
    }
  }
}

import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EmbeddedPostgres } from './embedded-postgres.ts';
import { freePort } from './free-port.ts';
import { childrenOf, endOrphans, signalProcess } from './process-tree.ts';

export interface PostgresServer {
  /** Of the database `postgres`, with the password. */
  readonly url: string;
  /** The postmaster first, then every process that it has started. */
  processIds(): Promise<readonly number[]>;
  /**
   * Kills without a warning: the postmaster alone, whose sessions finish what they are at and then notice, or all of
   * its processes at once, as when the machine stops.
   */
  kill(what: 'postmaster' | 'everything'): Promise<void>;
  /** Starts again on the same data directory, and resolves when it takes connections. */
  restart(): Promise<void>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

const LOG_LINES = 40;

/**
 * Starts PostgreSQL with everything that makes commits durable, on 127.0.0.1, with its data in a folder of its own under
 * the system's temporary one.
 *
 * @param settings of the server, by the names of postgresql.conf.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-postgres-'));
  const databaseDir = join(folder, 'data');
  const log: string[] = [];
  const keep = (message: unknown): void => {
    log.push(String(message));
    if (log.length > LOG_LINES) log.shift();
  };
  const isRoot = process.getuid?.() === 0;
  // The server's own user has to reach what only its maker could.
  if (isRoot) await chmod(folder, 0o755);
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    authMethod: 'scram-sha-256',
    createPostgresUser: isRoot,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: keep,
    onError: keep,
  });
  await server.initialise();

  const start = async (): Promise<void> => {
    // After a crash the sessions of the killed server hold its shared memory until they have noticed.
    for (let attempt = 1; ; attempt++) {
      try {
        await server.start();
        isRunning = true;
        return;
      } catch {
        if (attempt === 100) throw new Error(`PostgreSQL does not start:\n${log.join('')}`);
        await wait(100);
      }
    }
  };
  const postmaster = async (): Promise<number> =>
    Number((await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);

  let isRunning = false;
  let orphans: readonly number[] = [];
  await start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async processIds() {
      const first = await postmaster();
      return [first, ...(await childrenOf(first))];
    },
    async kill(what) {
      const first = await postmaster();
      // Stopped before its children are listed: a session that it starts after that would outlive everything unseen, and
      // might wait for ever for one that is dead, with its client behind it.
      signalProcess(first, 'SIGSTOP');
      orphans = await childrenOf(first);
      signalProcess(first, 'SIGKILL');
      isRunning = false;
      if (what === 'everything') for (const child of orphans) signalProcess(child, 'SIGKILL');
      // Already dead; this only waits until the system says so.
      await server.stop();
    },
    async restart() {
      await endOrphans(orphans);
      await start();
    },
    async stop() {
      // At once, without a checkpoint: on a slow disk it takes minutes to write what is removed next.
      if (isRunning) signalProcess(await postmaster(), 'SIGQUIT');
      isRunning = false;
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

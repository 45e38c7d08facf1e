import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { type ServerUser, serverUser } from '@payment-service/servers/postgres';

/** The programs of a cluster, with the flag that prints their version and the Debian packages that contain them. */
const NEEDED = {
  patroni: { flag: '--version', packages: 'patroni python3-etcd' },
  etcd: { flag: '--version', packages: 'etcd-server' },
  haproxy: { flag: '-v', packages: 'haproxy' },
  // Searched only in the folder of the server's programs, where Patroni looks for all of them.
  pg_controldata: { flag: '--version', packages: 'postgresql-15' },
} as const;
type Name = keyof typeof NEEDED;

export interface Programs {
  /** The path of each program. */
  readonly paths: Readonly<Record<Name, string>>;
  /** The first line of each program's version output. */
  readonly versions: Readonly<Record<Name, string>>;
  /** The user who runs them, since PostgreSQL refuses root. */
  readonly user: ServerUser | undefined;
}

/** Debian keeps these outside the PATH of most users. */
const FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/15/bin'];

/**
 * Looks for the programs and starts each of them once. Installs nothing.
 *
 * @param env PATH, and CLUSTER_PROGRAMS: a folder that is searched first, in which packages were unpacked.
 * @returns a sentence that names the packages to install, if some programs are missing.
 */
export function findPrograms(env: NodeJS.ProcessEnv = process.env): Programs | string {
  const user = serverUser();
  const own = env['CLUSTER_PROGRAMS'];
  const unpacked = ['', 'bin', 'usr/bin', ...FOLDERS].map((folder) => (own ? join(own, folder) : ''));
  const folders = [...unpacked, ...(env['PATH'] ?? '').split(delimiter), ...FOLDERS].filter(Boolean);
  const [paths, versions]: [Record<string, string>, Record<string, string>] = [{}, {}];
  for (const [name, { flag }] of Object.entries(NEEDED))
    for (const path of folders.map((folder) => join(folder, name))) {
      const { status, stdout } = spawnSync(path, [flag], { ...user, env, cwd: '/', encoding: 'utf8' });
      if (status !== 0) continue;
      paths[name] = path;
      versions[name] = stdout.split('\n')[0] ?? '';
      break;
    }
  const missing = (Object.keys(NEEDED) as Name[]).filter((name) => paths[name] === undefined);
  if (missing.length > 0) return explained(missing);
  return { paths: paths as Programs['paths'], versions: versions as Programs['versions'], user };
}

function explained(missing: readonly Name[]): string {
  const packages = missing.map((name) => NEEDED[name].packages).join(' ');
  return (
    `These programs cannot be started: ${missing.join(', ')}. Nothing was tested or installed. ` +
    `On Debian, they are in these packages: ${packages}. Install them, or unpack them into a folder and set ` +
    'CLUSTER_PROGRAMS to it (with PYTHONPATH and LD_LIBRARY_PATH for their dependencies).'
  );
}

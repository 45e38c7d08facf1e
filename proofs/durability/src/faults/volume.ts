import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'CRASH_TEST_VOLUME';
const SIZE = '600m';

/** The small volume on which this program keeps the database and the spool, if it has one. */
export const volume: string | undefined = process.env[NAME];

/**
 * Runs this program again with a volume of 600 MB in memory that only it and its children see, so that no other program meets a
 * full disk. An overlay covers it, since the inbox refuses a file system in memory. This needs Linux with `unshare` and
 * `mount`, and a user who may create a namespace; root always may.
 *
 * @returns its exit code; 2 if such a volume is impossible.
 */
export function runOnVolume(): number {
  const path = mkdtempSync(join(tmpdir(), 'payment-service-volume-'));
  const own = process.getuid?.() === 0 ? ['-m'] : ['-U', '-m', '--map-current-user', '--keep-caps'];
  const mount =
    `mount -t tmpfs -o size=${SIZE},mode=755 none "$0" && cd "$0" && mkdir lower upper work disk && ` +
    'mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none disk || exit 2; cd /; exec "$@"';
  const lab = join(import.meta.dirname, '..', '..', '..', 'lab.ts');
  const program = [process.execPath, lab, 'crash-test', ...process.argv.slice(2)];
  try {
    const { status, error } = spawnSync('unshare', [...own, 'sh', '-c', mount, path, ...program], {
      stdio: 'inherit',
      env: { ...process.env, [NAME]: join(path, 'disk') },
    });
    if (error === undefined && status !== null && status !== 2) return status;
    console.error(
      'full-disk needs Linux, the commands unshare and mount (util-linux), and a user who may make a namespace ' +
        '(sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns), or root.',
    );
    return 2;
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

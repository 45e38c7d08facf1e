/**
 * The first half of `pnpm start`: builds the packages that the sample shop uses. It prints one line, and the build's output
 * only if the build fails.
 */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

const started = Date.now();
process.stdout.write('Building the packages … ');
const { status, stdout, stderr, error } = spawnSync(
  'turbo',
  ['run', 'build', '--filter=@payment-service/shop^...', '--output-logs=errors-only'],
  {
    cwd: dirname(import.meta.dirname),
    encoding: 'utf8',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
    shell: process.platform === 'win32',
  },
);
if (status === 0) {
  console.log(`done in ${((Date.now() - started) / 1000).toFixed(1)} s`);
} else {
  console.log(`failed\n${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`);
  process.exitCode = 1;
}

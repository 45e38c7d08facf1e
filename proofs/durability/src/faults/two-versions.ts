import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { judge } from '../measure/results.ts';
import { type Fault, type FaultParts, preloaded } from './fault.ts';

/** One receiver and one worker run with the inbox and core of another checkout, on the same tables. */
export async function twoVersions({ other }: FaultParts): Promise<Fault> {
  if (other === undefined)
    throw new Error('two-versions needs --other, the folder of another checkout with its dependencies.');
  const own = join(import.meta.dirname, '..', '..', '..', '..');
  const differing = (path: string): number => {
    const folders = [own, other].map((checkout) => join(checkout, 'packages', 'inbox', path));
    const { stdout } = spawnSync('git', ['diff', '--no-index', '--name-only', ...folders], {
      encoding: 'utf8',
    });
    return stdout.split('\n').length - 1;
  };
  const changed = differing('src') + differing('sql');
  const versions = differing('sql/migrations') === 0 ? 2 : 1;
  return {
    env: (index) => (index === 1 ? preloaded('other-version.ts', { CRASH_TEST_OTHER: other }) : {}),
    happened: async ({ processes }) => [
      judge('files of the inbox that differ', 'files', changed, 'at least', 1),
      judge('versions on one schema', 'versions', versions, 'exactly', 2),
      ...processes.map(({ settings: { role }, entered }, index) => {
        const version = index > 1 ? 'other version' : 'this version';
        const phase = role === 'worker' ? 'handler' : 'intake';
        return judge(`${role}, ${version}: times in phase ${phase}`, 'times', entered[phase], 'at least', 20);
      }),
    ],
  };
}

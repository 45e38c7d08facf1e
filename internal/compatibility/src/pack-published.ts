import { globSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from './run-program.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** The published packages, by name: the folders of their sources. */
export function publishedFolders(): ReadonlyMap<string, string> {
  const folders = globSync('packages/*/package.json', { cwd: root }).sort();
  const manifests = folders.map((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      name: string;
      private?: boolean;
    };
    return { ...manifest, folder: join(root, dirname(path)) };
  });
  return new Map(manifests.filter((one) => one.private !== true).map(({ name, folder }) => [name, folder]));
}

/** Packs every published package with `pnpm pack`, which applies `publishConfig`; `npm pack` does not. */
export async function packPublished(destination: string): Promise<void> {
  // Turbo has built the packages before. Without it they are built here, so that no test runs an old build.
  if (process.env['TURBO_HASH'] === undefined)
    await pnpm(root, ['--filter', '@payment-service/compatibility^...', 'build']);
  await mkdir(destination, { recursive: true });
  const folders = [...publishedFolders().values()];
  await Promise.all(folders.map((folder) => pnpm(folder, ['pack', '--pack-destination', destination])));
}

async function pnpm(cwd: string, args: readonly string[]): Promise<void> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start these tests through pnpm: `pnpm --filter @payment-service/compatibility test`.');
  const handOver = join(root, 'internal', 'toolchains', 'pnpm.mjs');
  const { code, output } = await runProgram(process.execPath, [handOver, ...args], { cwd });
  if (code !== 0) throw new Error(`pnpm ${args.join(' ')} in ${cwd}: exit ${code}\n${output}`);
}

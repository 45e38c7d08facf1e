import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unpack } from '@publint/pack';

type Verification = Pick<typeof import('@payment-service/core'), 'createVerifier'>;
type Signing = typeof import('@payment-service/core/testing');

/** What is measured of core, out of its tarball. */
export interface PublishedCore extends Verification, Signing {
  /** The implementation that the import condition chose: `node:crypto` or `@noble/hashes`. */
  readonly digestName: string;
}

interface Manifest {
  readonly imports: { readonly '#digest': { readonly default: unknown } };
}

const root = join(import.meta.dirname, '..', '..');
const core = join(root, 'packages', 'core');

/**
 * Core as a user gets it: the tarball of `pnpm pack`, laid out in a folder and loaded by its own name. Twice: as it is,
 * and with the condition `node` taken out of its package.json, which is how browsers and workers resolve it.
 *
 * @param folder an empty folder.
 */
export async function publishedCore(
  folder: string,
): Promise<{ readonly node: PublishedCore; readonly portable: PublishedCore }> {
  pack(folder);
  return {
    node: await load(await layOut(folder, 'node', (manifest) => manifest)),
    portable: await load(
      await layOut(folder, 'portable', ({ imports, ...rest }) => ({
        ...rest,
        imports: { '#digest': imports['#digest'].default },
      })),
    ),
  };
}

/** pnpm applies `publishConfig`: the packed manifest points at dist, the one in the workspace at src. */
function pack(destination: string): void {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start this through pnpm, which packs core: `npx -y pnpm@12.21.0 bench`.');
  const pnpm = join(root, 'internal', 'pnpm', 'pnpm.mjs');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [pnpm, 'pack', '--pack-destination', destination],
    { cwd: core, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`pnpm pack ended with ${status}:\n${stdout}${stderr}`);
}

async function layOut(folder: string, name: string, edit: (manifest: Manifest) => object): Promise<string> {
  const [tarball = ''] = globSync('*.tgz', { cwd: folder });
  const { rootDir, files } = await unpack(new Uint8Array(await readFile(join(folder, tarball))).buffer);
  if (!files.some((file) => file.name === `${rootDir}/dist/index.js`))
    throw new Error('Core is not built: `npx -y pnpm@12.21.0 --filter @payment-service/core build`.');
  const home = join(folder, name);
  for (const file of files) {
    const path = join(home, file.name.slice(rootDir.length + 1));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, file.data);
  }
  const path = join(home, 'package.json');
  await writeFile(path, JSON.stringify(edit(JSON.parse(await readFile(path, 'utf8')) as Manifest)));
  await symlink(join(core, 'node_modules'), join(home, 'node_modules'), 'junction');
  return path;
}

async function load(manifest: string): Promise<PublishedCore> {
  const { resolve } = createRequire(manifest);
  const published = (name: string) => import(pathToFileURL(resolve(name)).href);
  const { createVerifier }: Verification = await published('@payment-service/core');
  const { signCallback, sampleCallback }: Signing = await published('@payment-service/core/testing');
  const { digestName }: { digestName: string } = await published('#digest');
  return { createVerifier, signCallback, sampleCallback, digestName };
}

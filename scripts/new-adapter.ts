/**
 * `pnpm new-adapter NAME`: the first of the five steps of CONTRIBUTING.md. Copies the smallest adapter, `packages/fetch`,
 * to `packages/NAME`: one source file, the conformance suite and the configuration. The copy passes the suite, and then
 * becomes the adapter for a framework.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MODEL = 'fetch';
const FILES = [
  'package.json',
  'src/index.ts',
  'test/fetch.test.ts',
  'test/fetch-server.ts',
  'test/heap-server.ts',
  'test/live-heap.test.ts',
  'tsconfig.json',
  'tsdown.config.ts',
  'vitest.config.ts',
];
/** Of the model's own framework. */
const NOT_COPIED = ['hono', '@hono/node-server'];

/**
 * @param root the repository.
 * @param name of the new package, without its scope, such as `hapi`.
 * @param folder where to write; `packages/NAME` by default.
 * @throws {Error} when the name cannot be a package's, or the folder exists.
 */
export function newAdapter(root: string, name: string, folder: string = join(root, 'packages', name)): void {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`"${name}" cannot be the name of a package.`);
  if (existsSync(folder)) throw new Error(`${folder} exists.`);
  for (const file of FILES) {
    const path = join(folder, file.replace('fetch.test.ts', `${name}.test.ts`));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, copied(file, readFileSync(join(root, 'packages', MODEL, file), 'utf8'), name));
  }
  const sentence = `Verified callbacks and redirects of the payment service on ${name}.`;
  writeFileSync(join(folder, 'README.md'), `# @payment-service/${name}\n\n${sentence}\n`);
}

function copied(file: string, text: string, name: string): string {
  if (file === 'package.json') return manifest(text, name);
  return text
    .replaceAll(/^testLiveHeap\('hono'.*\n/gm, '')
    .replaceAll(`testAdapter('${MODEL}'`, `testAdapter('${name}'`)
    .replaceAll(`testLiveHeap('${MODEL}'`, `testLiveHeap('${name}'`);
}

function manifest(text: string, name: string): string {
  const {
    devDependencies,
    scripts,
    ...rest
  }: Record<string, Record<string, string>> = JSON.parse(
    text.replaceAll(`packages/${MODEL}`, `packages/${name}`),
  );
  const kept = Object.entries(devDependencies ?? {}).filter(
    ([dependency]) => !NOT_COPIED.includes(dependency),
  );
  const adapted = {
    ...rest,
    name: `@payment-service/${name}`,
    version: '0.0.0',
    description: `Verified callbacks and redirects of the payment service on ${name}`,
    scripts: { ...scripts, typecheck: 'tsc -p .' },
    devDependencies: Object.fromEntries(kept),
  };
  return `${JSON.stringify(adapted, null, 2)}\n`;
}

if (import.meta.main) {
  const [name = ''] = process.argv.slice(2);
  newAdapter(dirname(import.meta.dirname), name);
  console.log(`Wrote packages/${name}. Next: npx -y pnpm@12.21.0 install`);
}

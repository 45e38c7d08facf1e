/**
 * `pnpm new-adapter NAME --node|--fetch`: the first of the five steps in CONTRIBUTING.md. Copies the nearer sibling to
 * `packages/NAME`: one source file, the conformance suite on a bare server, and the configuration, without anything specific to
 * the sibling's framework. The copy passes the suite; you then turn it into the adapter for your framework.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

interface Sibling {
  readonly folder: string;
  /** The suite on a bare server, which is renamed after the copy, and that server. */
  readonly tests: readonly [suite: string, server: string];
  /** Edits that remove text about the sibling's framework. */
  readonly edits: readonly (readonly [text: RegExp, replacement: string])[];
}

const FILES = ['src/index.ts', 'tsconfig.json', 'tsdown.config.ts', 'vitest.config.ts'];
const DEV_DEPENDENCIES = /conformance|tsdown|typescript|vitest/;

export const SIBLINGS: Readonly<Record<'node' | 'fetch', Sibling>> = {
  node: {
    folder: 'express',
    tests: ['node-server.test.ts', 'node-server.ts'],
    edits: [
      [/ Written out, since[\s\S]*?assignable to both\./g, ''],
      [/\/\*\* Not `res\.send\(\)`.*\n/g, ''],
      [/: Express 4's would fail(?=\.)/g, ''],
      [/ {2}\/\/ Without its promise.*\n/g, ''],
      [/(Express|express) \d( and \d)?/g, '$1'],
    ],
  },
  fetch: {
    folder: 'fetch',
    tests: ['fetch.test.ts', 'fetch-server.ts'],
    edits: [
      [/ \*\n \* @example\n.*\/\/ Hono\n/g, ''],
      [/, and in Hono/g, ''],
      [/ \| HonoContext|^ {2}(type HonoContext|requestOf),\n|HonoContext, /gm, ''],
      [/requestOf\(from\)/g, 'from'],
      [/(?<=testAdapter\('|@payment-service\/)fetch/g, 'express'],
    ],
  },
};

/**
 * Writes the package of a new adapter.
 *
 * @param root The repository.
 * @param name The name of the new package without its scope, such as `hapi`.
 * @param like `node` for a framework that uses `node:http` requests, `fetch` for one that uses `Request → Response`.
 * @param folder Where to write. @default `packages/NAME`
 * @throws {Error} if the name is not valid for a package, or if the folder exists.
 */
export function newAdapter(
  root: string,
  name: string,
  like: 'node' | 'fetch',
  folder: string = join(root, 'packages', name),
): void {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`"${name}" cannot be the name of a package.`);
  if (existsSync(folder)) throw new Error(`${folder} already exists.`);
  const { folder: from, tests, edits } = SIBLINGS[like];
  const read = (file: string): string => readFileSync(join(root, 'packages', from, file), 'utf8');
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const type = name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const sources = [...FILES, ...tests.map((test) => `test/${test}`)];
  for (const [pattern] of edits)
    if (!sources.some((file) => read(file).search(pattern) >= 0))
      throw new Error(`No file of packages/${from} matches ${pattern}: change this edit with the source.`);
  for (const file of sources) {
    const text = edits.reduce(
      (before, [pattern, replacement]) => before.replaceAll(pattern, replacement),
      read(file),
    );
    const target = file.endsWith(tests[0]) ? `test/${name}.test.ts` : file;
    write(target, text.replaceAll('Express', type).replaceAll('express', name));
  }
  // What the platform's Request refuses is listed for all servers that create one.
  const server = like === 'fetch' ? `fetch: ${name}` : name;
  write('test/hostile-server.ts', hostileServer(server, tests[1]));
  write('test/hostile.proof.ts', hostileProof(server));
  const description = `Verified callbacks and redirects of the payment service on ${name}`;
  write('README.md', `# @payment-service/${name}\n\n${description}.\n`);
  const manifest = JSON.parse(read('package.json').replaceAll(`packages/${from}`, `packages/${name}`));
  const devDependencies = Object.entries(manifest.devDependencies).filter(([one]) =>
    DEV_DEPENDENCIES.test(one),
  );
  delete manifest.peerDependencies;
  delete manifest.scripts.typecheck;
  Object.assign(manifest, {
    name: `@payment-service/${name}`,
    version: '0.0.0',
    description,
    // The first six are the same in every package.
    keywords: [...manifest.keywords.slice(0, 6), name],
    devDependencies: Object.fromEntries(devDependencies),
  });
  write('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
}

const hostileServer = (name: string, server: string): string =>
  `import { serveHostile } from '@payment-service/conformance/hostile-server';
import { application } from './${server}';

await serveHostile({ '${name}': [application] });
`;

const hostileProof = (name: string): string =>
  `import { testHostility } from '@payment-service/conformance';

testHostility('${name}', new URL('hostile-server.ts', import.meta.url));
`;

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { node: { type: 'boolean' }, fetch: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [name = ''] = positionals;
  if (values.node === values.fetch)
    throw new Error(
      'Pass what the framework is built on: --node for node:http, --fetch for Request → Response.',
    );
  newAdapter(dirname(import.meta.dirname), name, values.node ? 'node' : 'fetch');
  console.log(`Wrote packages/${name}. Next: pnpm install`);
}

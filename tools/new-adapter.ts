/**
 * `pnpm new-adapter NAME --node|--fetch`: the first of the five steps of CONTRIBUTING.md. Copies the nearer sibling to
 * `packages/NAME`: one source file, the conformance suite on a bare server, and the configuration. Everything specific to the
 * sibling's own framework is left out. The copy passes the suite, and then becomes the adapter for a framework.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

interface Sibling {
  readonly folder: string;
  /** Its suite on a bare server; the copy names the file after itself. */
  readonly suite: string;
  readonly files: readonly string[];
  /** Dependencies and text of its own framework. */
  readonly framework: RegExp;
  readonly edits: readonly (readonly [text: RegExp, replacement: string])[];
}

const FILES = ['package.json', 'src/index.ts', 'tsconfig.json', 'tsdown.config.ts', 'vitest.config.ts'];

export const SIBLINGS: Readonly<Record<'node' | 'fetch', Sibling>> = {
  node: {
    folder: 'express',
    suite: 'test/node-server.test.ts',
    files: [...FILES, 'test/node-server.test.ts', 'test/node-server.ts'],
    framework: /express/,
    edits: [
      [/ Written out, since[\s\S]*?fits both\./g, ''],
      [/\/\*\* Not `res\.send\(\)`.*\n/g, ''],
      [/: Express 4's would fail(?=\.)| \/\/ Express 4 does not look at promises\./g, ''],
      [/(Express|express) \d( and \d)?/g, '$1'],
    ],
  },
  fetch: {
    folder: 'fetch',
    suite: 'test/fetch.test.ts',
    files: [...FILES, 'test/fetch.test.ts', 'test/fetch-server.ts'],
    framework: /hono/,
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
 * @param root the repository.
 * @param name the name of the new package without its scope, such as `hapi`.
 * @param like `node` for a framework on the requests of `node:http`, `fetch` for one on `Request → Response`.
 * @param folder where to write; `packages/NAME` by default.
 * @throws {Error} if the name cannot be a package's, or if the folder exists.
 */
export function newAdapter(
  root: string,
  name: string,
  like: 'node' | 'fetch',
  folder: string = join(root, 'packages', name),
): void {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`"${name}" cannot be the name of a package.`);
  if (existsSync(folder)) throw new Error(`${folder} exists.`);
  const sibling = SIBLINGS[like];
  for (const file of sibling.files) {
    const path = join(folder, file === sibling.suite ? `test/${name}.test.ts` : file);
    mkdirSync(dirname(path), { recursive: true });
    const text = readFileSync(join(root, 'packages', sibling.folder, file), 'utf8');
    writeFileSync(
      path,
      file === 'package.json' ? manifest(text, name, sibling) : copied(text, name, sibling),
    );
  }
  const sentence = `Verified callbacks and redirects of the payment service on ${name}.`;
  writeFileSync(join(folder, 'README.md'), `# @payment-service/${name}\n\n${sentence}\n`);
}

function copied(text: string, name: string, { edits }: Sibling): string {
  const type = name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return edits
    .reduce((before, [pattern, replacement]) => before.replaceAll(pattern, replacement), text)
    .replaceAll('Express', type)
    .replaceAll('express', name);
}

function manifest(text: string, name: string, { folder, framework }: Sibling): string {
  const {
    peerDependencies: _,
    devDependencies,
    keywords,
    scripts: { typecheck: __, ...scripts } = {},
    ...rest
  } = JSON.parse(text.replaceAll(`packages/${folder}`, `packages/${name}`)) as {
    readonly keywords: readonly string[];
  } & Readonly<Record<string, Readonly<Record<string, string>>>>;
  const kept = Object.entries(devDependencies ?? {}).filter(([dependency]) => !framework.test(dependency));
  const adapted = {
    ...rest,
    name: `@payment-service/${name}`,
    version: '0.0.0',
    description: `Verified callbacks and redirects of the payment service on ${name}`,
    // The first six are those of every package.
    keywords: [...keywords.slice(0, 6), name],
    scripts,
    devDependencies: Object.fromEntries(kept),
  };
  return `${JSON.stringify(adapted, null, 2)}\n`;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { node: { type: 'boolean' }, fetch: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [name = ''] = positionals;
  if (values.node === values.fetch)
    throw new Error(
      'Say what the framework is built on: --node for node:http, --fetch for Request → Response.',
    );
  newAdapter(dirname(import.meta.dirname), name, values.node ? 'node' : 'fetch');
  console.log(`Wrote packages/${name}. Next: npx -y pnpm@12.21.0 install`);
}

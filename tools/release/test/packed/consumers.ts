/** The programs of a merchant, compiled against the packed types as ESM and as CommonJS, and run on the Nodes that are supported. */
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  execute,
  readTarballs,
  sideBySide,
  typescript5,
  userNodes,
} from '@payment-service/release/toolchains';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { compile, type Stage, serve, writeProject } from '../../src/rehearsal/project.ts';
import type { Row } from '../../src/rehearsal/rows.ts';

const scratch = inject('scratch');
const smoke = join(import.meta.dirname, '..', '..', 'smoke');
const secondCopy = join(scratch, 'older', 'node_modules', '@payment-service', 'core');
const require = createRequire(import.meta.url);
const vectors = require.resolve('@payment-service/openapi/signature-vectors.json');
const packages = await readTarballs(join(scratch, 'tarballs'));
const sandboxFile = createRequire(join(scratch, 'package.json')).resolve('@payment-service/sandbox');
const { createSandbox }: typeof import('@payment-service/sandbox') = await import(
  pathToFileURL(sandboxFile).href
);
const stage: Stage = { folder: scratch, createSandbox };

/** The programs of the rehearsal, and the package that decides on which Node each runs. */
const PROGRAMS = { express: 'express', fastify: 'fastify', koa: 'koa', hono: 'fetch', inbox: 'inbox' };
const COMPILERS = [
  // TypeScript 7 is fast and checks every declaration; 5.9 gets the setting that most users have.
  {
    name: '7',
    tsc: join(dirname(require.resolve('typescript/package.json')), 'bin/tsc'),
    skipLibCheck: false,
  },
  { name: '5.9', tsc: typescript5(), skipLibCheck: true },
];
const SETUPS = [
  { type: 'module', module: 'nodenext' },
  { type: 'commonjs', module: 'node16' },
] as const;
/** Only as modules: they create `require` themselves, and require the same package. */
const OF_MODULES = ['one-instance.mts', 'two-copies.mts'];
/** What is checked of core alone, and what it prints. */
const OF_CORE = [
  ['vectors.js', 'every vector'],
  ['zod.js', 'schemas of zod'],
  ['one-instance.mjs', 'one instance'],
  ['two-copies.mjs', 'copies agree'], // Threat A37.
] as const;

/** On every Node, or on those that matter most: the oldest, on which most things are missing, and the newest as a module. */
export type Nodes = 'every' | 'ends';

function runs(type: 'module' | 'commonjs', which: Nodes): readonly Row[] {
  const rows = Object.entries(PROGRAMS).flatMap(([program, name]) => {
    const manifest = packages.find((one) => one.manifest.name === `@payment-service/${name}`)?.manifest;
    const nodes = userNodes(manifest);
    const ends = type === 'module' ? new Set([nodes.at(0), nodes.at(-1)]) : new Set([nodes.at(0)]);
    return nodes
      .filter((node) => which === 'every' || ends.has(node))
      .map(({ version }) => {
        const about = `${program} on Node ${version}`;
        const node = Number(version.split('.')[0]) as 20 | 22 | 24 | 26;
        return { name: about, about, node, type, dependencies: [], program: `${program}.ts` };
      });
  });
  // One inbox at a time, since all of them have the same file.
  return rows.sort((one, other) => one.node - other.node);
}

export function testConsumers(which: Nodes): void {
  describe.each(SETUPS)('$type', ({ type, module }) => {
    const cwd = join(scratch, type);
    const smokes = [
      'vectors.ts',
      'loads-all.ts',
      'wrong-verdicts.ts',
      'zod.ts',
      ...(type === 'module' ? OF_MODULES : []),
    ];
    const files = [...Object.keys(PROGRAMS).map((name) => `${name}.ts`), ...smokes];
    const found = new Map<string, readonly string[]>();
    beforeAll(async () => {
      for (const { name, tsc, skipLibCheck } of COMPILERS) {
        // The rehearsal compiles with it in every way.
        if (which === 'ends' && name === '5.9') continue;
        const folder = name === '7' ? cwd : `${cwd}-${name}`;
        const compiler = {
          module,
          skipLibCheck,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
        };
        const row = {
          name: type,
          about: '',
          type,
          dependencies: [],
          compiler: { ...compiler, rewriteRelativeImportExtensions: true },
        };
        await writeProject(row, {}, folder, files);
        for (const file of smokes) await cp(join(smoke, file), join(folder, file));
        await compile(tsc, folder);
      }
      await sideBySide(runs(type, which), 2, async (row) => {
        found.set(row.name, await serve(row, stage, cwd));
      });
    });

    test.each(runs(type, which))('$name accepts, refuses, credits and reads', ({ name }) => {
      expect(found.get(name)).toEqual([]);
    });

    const ofCore = type === 'module' ? OF_CORE : OF_CORE.filter(([file]) => file.endsWith('.js'));
    test.each(userNodes().flatMap((node) => ofCore.map(([file, line]) => ({ ...node, file, line }))))(
      '$file on Node $version: $line',
      async ({ binary: command, file, line }) => {
        const args = [join('out', file), vectors, secondCopy];
        expect(await execute({ command, args, cwd, env: { NODE_ENV: 'test' } })).toEqual({
          code: 0,
          output: `${line}\n`,
        });
      },
    );
  });

  // Jest and older bundlers do not know module-sync: they use the CommonJS files, which Node itself does not need.
  test.each(['express', 'inbox'])('%s from the CommonJS files alone', async (program) => {
    const older = join(scratch, 'older', program);
    await cp(join(scratch, 'commonjs'), older, { recursive: true });
    const row: Row = {
      name: program,
      about: '',
      type: 'commonjs',
      dependencies: [],
      program: `${program}.ts`,
    };
    expect(await serve(row, { ...stage, folder: older }, older)).toEqual([]);
  });
}

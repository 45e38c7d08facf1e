/**
 * A user's program, in strict TypeScript against the packed types, compiled as ESM and as CommonJS, and run on every
 * supported Node.
 */
import { globSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Ended,
  execute,
  type PackedManifest,
  readTarballs,
  typescript5,
  userNodes,
} from '@payment-service/release/toolchains';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { CONSUMERS, compileProgram } from '../../src/packed/compile-program.ts';
import { supports } from '../../src/packed/supports.ts';

const scratch = inject('scratch');
const secondCopy = join(scratch, 'older', 'node_modules', '@payment-service', 'core');
const require = createRequire(import.meta.url);
const vectors = require.resolve('@payment-service/openapi/signature-vectors.json');
// TypeScript 7 is fast and checks every declaration; 5.9 gets the setting that most users have.
const typescript7 = {
  tsc: join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc'),
  skipLibCheck: false,
};
const typescript59 = { tsc: typescript5(), skipLibCheck: true };

/** Sandbox keys are accepted without a warning. */
const ENV = { NODE_ENV: 'test' };

const smoke = join(import.meta.dirname, '..', '..', 'smoke');
const nodes = userNodes();
const packages = await readTarballs(join(scratch, 'tarballs'));
const manifestOf = (name: string): PackedManifest => {
  const found = packages.find(({ manifest }) => manifest.name === `@payment-service/${name}`);
  if (found === undefined) throw new Error(`${name} was not packed`);
  return found.manifest;
};
/** A program that printed one line and exited with 0. */
const worked = (line: string): Ended => ({ code: 0, output: `${line}\n` });
// Node 22 announces node:sqlite as experimental.
const QUIET = '--disable-warning=ExperimentalWarning';
type Program = readonly [does: string, of: string, file: string, line: string, ...flags: string[]];
/** What each program shows, the package whose `engines` apply, the file, and what it prints. */
const PROGRAMS: readonly Program[] = [
  ['core, client and adapters work', 'core', 'smoke.js', 'core, client and adapters work'],
  ['the sandbox works', 'sandbox', 'sandbox-smoke.js', 'the sandbox works'],
  ['the inbox works', 'inbox', 'inbox-smoke.js', 'the inbox works', QUIET],
];
/** Only as a module: it creates `require` itself, and requires the same package. */
const OF_MODULES: readonly Program[] = [
  ['import and require give one instance', 'core', 'one-instance.mjs', 'one instance'],
  ['threat A37: copies of core accept the results of each other', 'core', 'two-copies.mjs', 'copies agree'],
];
const files = globSync('*.ts', { cwd: smoke }).sort();

test('every published package is used by one of the programs, and built before them', () => {
  const { devDependencies } = require('../package.json') as { devDependencies: object };
  expect(Object.keys(devDependencies)).toEqual(
    expect.arrayContaining(packages.map((one) => one.manifest.name)),
  );
  const sources = files.map((file) => readFileSync(join(smoke, file), 'utf8')).join('\n');
  const unused = packages
    .map(({ manifest }) => manifest.name)
    .filter((name) => !sources.includes(`'${name}'`));
  expect(unused).toEqual([]);
});

describe.each(CONSUMERS)('$name', (setup) => {
  const sources = setup.type === 'module' ? [...files, 'one-instance.mts', 'two-copies.mts'] : files;
  const folder = setup.type;
  let compiled: Ended;
  beforeAll(async () => {
    compiled = await compileProgram(scratch, folder, setup, typescript7, sources);
  });

  test(`compiles with module ${setup.module} under TypeScript 7`, () => {
    expect(compiled).toEqual({ code: 0, output: '' });
  });

  test(`compiles with module ${setup.module} under TypeScript 5.9`, async () => {
    const result = await compileProgram(scratch, `${folder}-5.9`, setup, typescript59, sources);
    expect(result).toEqual({ code: 0, output: '' });
  });

  const programs = setup.type === 'module' ? [...PROGRAMS, ...OF_MODULES] : PROGRAMS;
  test.each(
    programs.flatMap(([does, of, file, line, ...flags]) =>
      nodes
        .filter((node) => supports(manifestOf(of), node))
        .map(({ version, binary }) => ({ does, version, binary, file, line, flags })),
    ),
  )('$does on Node $version', async ({ binary: command, file, line, flags }) => {
    const args = [...flags, join('out', file), vectors, secondCopy];
    expect(await execute({ command, args, cwd: join(scratch, folder), env: ENV })).toEqual(worked(line));
  });

  // Jest and older bundlers do not know module-sync: they use the CommonJS files, which Node itself does not need.
  test.each(setup.type === 'commonjs' ? PROGRAMS : [])(
    '%s from the CommonJS files alone',
    async (_does, _of, file, line) => {
      const older = join(scratch, 'older', folder);
      await cp(join(scratch, folder), older, { recursive: true });
      const args = [QUIET, join('out', file), vectors];
      expect(await execute({ command: process.execPath, args, cwd: older, env: ENV })).toEqual(worked(line));
    },
  );
});

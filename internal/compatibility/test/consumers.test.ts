/**
 * A user's program, in strict TypeScript against the packed types, compiled as ESM and as CommonJS, and run on every
 * supported Node.
 */
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { typescript5, userNodes } from '@payment-service/toolchains';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { CONSUMERS, compileProgram } from '../src/compile-program.ts';
import { readTarballs } from '../src/packed-package.ts';
import { type ProgramResult, runProgram } from '../src/run-program.ts';
import { supports } from '../src/supports.ts';

const scratch = inject('scratch');
const require = createRequire(import.meta.url);
const vectors = require.resolve('@payment-service/openapi/signature-vectors.json');
const typescript7 = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

const smoke = join(import.meta.dirname, '..', 'smoke');
const nodes = userNodes();
const packages = await readTarballs(join(scratch, 'tarballs'));
const sandbox = packages.find((one) => one.manifest.name === '@payment-service/sandbox')?.manifest;
if (sandbox === undefined) throw new Error('the sandbox was not packed');
const files = globSync('*.ts', { cwd: smoke }).sort();

test('every published package is used by one of the programs', () => {
  const programs = files.map((file) => readFileSync(join(smoke, file), 'utf8')).join('\n');
  const unused = packages
    .map(({ manifest }) => manifest.name)
    .filter((name) => !programs.includes(`'${name}'`));
  expect(unused).toEqual([]);
});

describe.each(CONSUMERS)('$name', (setup) => {
  const sources = setup.type === 'module' ? [...files, 'one-instance.mts'] : files;
  const folder = setup.type;
  let compiled: ProgramResult;
  beforeAll(async () => {
    compiled = await compileProgram(scratch, folder, setup, typescript7, sources);
  });
  const run = (binary: string, program: string): Promise<ProgramResult> =>
    runProgram(binary, [join('out', program), vectors], { cwd: join(scratch, folder), env: {} });

  test(`compiles with module ${setup.module} under TypeScript 7`, () => {
    expect(compiled).toEqual({ code: 0, output: '' });
  });

  test(`compiles with module ${setup.module} under TypeScript 5.9`, async () => {
    const result = await compileProgram(scratch, `${folder}-5.9`, setup, typescript5(), sources);
    expect(result).toEqual({ code: 0, output: '' });
  });

  test.each(nodes)('works on Node $version', async ({ binary }) => {
    expect(await run(binary, 'smoke.js')).toEqual({ code: 0, output: 'core, client and adapters work\n' });
  });

  test.each(nodes.filter((node) => supports(sandbox, node)))(
    'the sandbox works on Node $version',
    async ({ binary }) => {
      expect(await run(binary, 'sandbox-smoke.js')).toEqual({ code: 0, output: 'the sandbox works\n' });
    },
  );

  // From a module only: `require` is made there, and asked for the same package.
  test.each(setup.type === 'module' ? nodes : [])(
    'import and require give one instance on Node $version',
    async ({ binary }) => {
      expect(await run(binary, 'one-instance.mjs')).toEqual({ code: 0, output: 'one instance\n' });
    },
  );
});

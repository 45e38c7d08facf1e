/**
 * Core and the fetch adapter without Node: bundled for a browser or a worker, the bundle imports nothing of Node, and it
 * verifies the same vectors with only the web's globals.
 */
import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, inject, test } from 'vitest';

const require = createRequire(import.meta.url);
const vectorsPath = require.resolve('@payment-service/openapi/signature-vectors.json');
const { vectors } = JSON.parse(readFileSync(vectorsPath, 'utf8')) as { vectors: { expect: object }[] };
const smoke = join(import.meta.dirname, '..', '..', 'smoke');

interface Bundle {
  readonly imports: readonly string[];
  readonly code: string;
}

describe('bundled for a browser', () => {
  let bundle: Bundle;
  let worker: Worker;
  beforeAll(async () => {
    bundle = await bundleFor('browser');
    worker = start(bundle.code);
  });

  test('the bundle imports nothing of Node', () => {
    expect(bundle.imports).toEqual([]);
    // Core requests this module at run time if it exists, by name; it does not import it.
    const code = bundle.code.replaceAll(/(?:getBuiltinModule\?\.\(|digestName\S* = )"node:crypto"/g, '');
    expect(code).not.toMatch(/["'`]node:|\brequire\(/);
  });

  test('every vector gets its verdict', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150);
    expect(worker.wrongVerdicts(vectors)).toEqual([]);
  });

  test('a wrong expectation is noticed', () => {
    const [first] = vectors;
    expect(worker.wrongVerdicts([{ ...first, expect: { ok: false, code: 'mismatch' } }])).toHaveLength(1);
  });

  test('the fetch adapter accepts signed requests, compressed or not, and refuses the rest', async () => {
    const accepted = '200 {"status":"accepted"} ORD-1001';
    const refused = '401 {"error":"unauthorized"} undefined';
    expect(await worker.answers()).toEqual({
      ...{ plain: accepted, gzip: accepted, deflate: accepted, 'not compressed': accepted },
      ...{ forged: refused, truncated: refused, empty: refused },
      ...{ 'two members': refused, 'a trailing byte': refused, 'trailing text': refused },
      'over 64 KiB': expect.stringMatching(/^413 .* undefined$/),
    });
  });

  test('the client calls the fetch function that it is given', async () => {
    expect(await worker.bankNames()).toEqual(['Example Bank']);
  });
});

test('control: bundled for Node, the same program loads node:crypto', async () => {
  const { code } = await bundleFor('node');
  expect(code).toContain('"node:crypto"');
});

test('loading core has no side effects, so that a bundle contains only what it uses', async () => {
  const build = await rolldown({
    input: join(inject('scratch'), 'worker', 'loads-all.ts'),
    platform: 'node',
    external: isBuiltin,
    treeshake: { moduleSideEffects: true }, // As if package.json did not declare this.
  });
  const { output } = await build.generate({ format: 'esm' });
  expect(output[0].code.replaceAll(/^(\/\/.*|import .*|export \{\s*\};?)$/gm, '').trim()).toBe('');
});

/** What `smoke/worker.ts` leaves in its globals. */
interface Worker {
  wrongVerdicts(vectors: readonly object[]): string[];
  answers(): Promise<unknown>;
  bankNames(): Promise<unknown>;
}

async function bundleFor(platform: 'browser' | 'node'): Promise<Bundle> {
  // Copied to the folder where the packages are installed, so that the bundler finds those from the tarballs.
  const project = join(inject('scratch'), 'worker');
  await cp(smoke, project, { recursive: true });
  const build = await rolldown({
    input: join(project, 'worker.ts'),
    platform,
    external: isBuiltin,
    onLog: (_level, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await build.generate({ format: platform === 'browser' ? 'iife' : 'esm' });
  const chunks = output.filter((one) => one.type === 'chunk');
  expect(chunks).toHaveLength(output.length);
  // A dynamic import inside the bundle refers to a file of the bundle.
  const own = chunks.map(({ fileName }) => fileName);
  const imports = chunks
    .flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
    .filter((name) => !own.includes(name));
  return { imports, code: chunks.map(({ code }) => code).join('\n') };
}

const WEB = (
  'AbortController AbortSignal Blob btoa clearTimeout CompressionStream console crypto ' +
  'DecompressionStream fetch Headers performance queueMicrotask ReadableStream Request ' +
  'Response setTimeout TextDecoder TextEncoder URL URLSearchParams'
).split(' ');

/** Runs the bundle in its own realm: the language, the web's globals, and neither `process` nor `Buffer`. */
function start(code: string): Worker {
  const web = Object.fromEntries(WEB.map((name) => [name, Reflect.get(globalThis, name)]));
  const context = createContext(web);
  runInContext(code, context);
  return context['worker'] as Worker;
}

import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'tsdown';
import { moduleForTracers } from '../../tsdown.shared.ts';

/** Not for declarations (.d.ts), whose shared files would get the same names and be lost. */
function isLoadedByAdapters(path: string): boolean {
  return (/\/src\/.*(?<!\.d)\.ts$/.test(path) && !APART.test(path)) || path.endsWith('/core/package.json');
}
const APART = /\/(client|explain)\/|portable|opentelemetry|zod|reconcile|testing/;

/** The bundler writes '\ufeff' as that character. With a single one, V8 parses all of core.js in two bytes per character. */
function expectAscii(code: string, { fileName }: { readonly fileName: string }): void {
  const found = /^core\./.test(fileName) ? /[\u0080-\uffff]/.exec(code) : null;
  if (found === null) return;
  const where = code.slice(Math.max(0, found.index - 60), found.index + 20);
  throw new Error(
    `${fileName} is not ASCII, so an import takes 2 ms longer. Write an escape in a regular expression: ${where}`,
  );
}

interface Emitter {
  emitFile(file: { readonly type: 'asset'; readonly fileName: string; readonly source: string }): unknown;
}

/** The entries that can hash. */
const HASHING = ['index', 'internal', 'receive', 'explain', 'testing'];

/** For runtimes without node:crypto, each of these entries in a file of its own, which first brings the portable digest. */
function emitPortableEntries(this: Emitter, { format }: { readonly format: string }): void {
  const ending = format === 'cjs' ? 'cjs' : 'js';
  for (const name of HASHING) {
    const [digest, entry] = [`'../digest.portable.${ending}'`, `'../${name}.${ending}'`];
    const source =
      format === 'cjs'
        ? `require(${digest});\nmodule.exports = require(${entry});\n`
        : `import ${digest};\nexport * from ${entry};\n`;
    this.emitFile({ type: 'asset', fileName: `portable/${name}.${ending}`, source });
  }
}

const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    internal: 'src/internal.ts',
    receive: 'src/receive/index.ts',
    client: 'src/client/index.ts',
    explain: 'src/explain/index.ts',
    reconcile: 'src/reconcile.ts',
    opentelemetry: 'src/opentelemetry.ts',
    zod: 'src/zod.ts',
    testing: 'src/testing.ts',
    'digest.portable': 'src/verify/digest/use-portable.ts',
  },
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  alias: { '#digest': join(import.meta.dirname, 'src/verify/digest/digest.published.ts') },
  footer: moduleForTracers,
  plugins: [
    { name: 'ascii', renderChunk: expectAscii },
    { name: 'portable-entries', generateBundle: emitPortableEntries },
  ],
  // One file, core.js, for all that an adapter loads: each file takes about a millisecond to load (docs/benchmarks.md). It holds
  // the digest of Node as well, and imports nothing. Bundlers drop what they do not use, since nothing in it does anything when
  // it is loaded.
  outputOptions: ({ chunkFileNames, ...options }, format) => ({
    ...options,
    comments: { jsdoc: false }, // They are in the declarations.
    minifyInternalExports: false, // The entry "internal" is core.js itself.
    chunkFileNames: (chunk) => {
      if (chunk.name === 'core') return format === 'cjs' ? 'core.cjs' : 'core.js';
      return typeof chunkFileNames === 'function' ? chunkFileNames(chunk) : (chunkFileNames ?? '[name].js');
    },
    codeSplitting: { groups: [{ name: 'core', test: isLoadedByAdapters }] },
  }),
  deps: {
    neverBundle: [/^node:/],
    // Of all hashes of @noble/hashes, the portable digest uses one.
    alwaysBundle: [/^@noble\/hashes\//],
    onlyBundle: ['@noble/hashes'],
  },
  // Its licence asks for its notice in every copy.
  copy: [{ from: 'node_modules/@noble/hashes/LICENSE', to: 'dist/@noble', rename: 'hashes.LICENSE' }],
});
export default config;

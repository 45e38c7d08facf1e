import { defineConfig, type UserConfig } from 'tsdown';

const config: UserConfig = defineConfig({
  entry: {
    index: 'src/index.ts',
    receive: 'src/receive/index.ts',
    client: 'src/client/index.ts',
    explain: 'src/explain/index.ts',
    reconcile: 'src/reconcile.ts',
    opentelemetry: 'src/opentelemetry.ts',
    testing: 'src/testing.ts',
    'digest.node': 'src/verify/digest.node.ts',
    'digest.portable': 'src/verify/digest.portable.ts',
    'inflate.node': 'src/receive/inflate.node.ts',
    'inflate.portable': 'src/receive/inflate.portable.ts',
  },
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  // Resolved where the package runs: node:crypto and node:zlib in Node, the portable files elsewhere.
  // Two shared files, not one for every set of importers: of core, a program that mounts an adapter loads these, two entries
  // and the digest. Not one, since bundlers keep 3 KB of what only the verifier needs in the client.
  // Not for declarations (.d.ts), whose shared files would get the same names and be lost.
  outputOptions: {
    comments: { jsdoc: false }, // They are in the declarations.
    codeSplitting: {
      groups: [
        {
          name: 'shared',
          test: /src\/(decimal|environment|errors|hook|key-check|near-name|options|trace-channel|receive\/request-body)\.ts$/,
          priority: 2,
        },
        { name: 'verify', test: /src\/verify\/(?!digest)[\w-]+\.ts$/, priority: 1 },
      ],
    },
  },
  deps: {
    neverBundle: ['#digest', '#inflate', /^node:/],
    // Every entry of zod re-exports all its locales: installed, it takes four times as long to import.
    // Of all hashes of @noble/hashes, the portable digest uses one.
    alwaysBundle: [/^zod\//, /^@noble\/hashes\//],
    onlyBundle: ['zod', '@noble/hashes'],
  },
  // Both licences ask for their notice in every copy.
  copy: [
    { from: 'node_modules/zod/LICENSE', to: 'dist', rename: 'zod.LICENSE' },
    { from: 'node_modules/@noble/hashes/LICENSE', to: 'dist/@noble', rename: 'hashes.LICENSE' },
  ],
});
export default config;

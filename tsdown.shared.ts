/** What the builds of several packages share. */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The end of each CommonJS entry names the module beside it, in a function that nothing calls. For `require`, a file tracer
 * that does not know the condition `module-sync` (@vercel/nft before 0.30, and every version on Node 20) copies only index.cjs,
 * and Node then looks for index.js. Tracers copy what is joined with `__dirname`; bundlers drop the function.
 */
export function moduleForTracers({ fileName }: { readonly fileName: string }): string {
  const name = /^([\w.]+)\.cjs$/.exec(fileName)?.[1]; // Shared files have a hash in their names, after a hyphen.
  return name === undefined ? '' : `function moduleForTracers() {\n\treturn __dirname + '/${name}.js';\n}`;
}

/** The build of an adapter, without its plugins: the plugin of its names is of a package that only adapters have. */
export const ADAPTER: {
  entry: string[];
  format: ('esm' | 'cjs')[];
  dts: true;
  platform: 'neutral';
  footer: typeof moduleForTracers;
} = {
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'neutral',
  footer: moduleForTracers,
};

/** The packages that are bundled with the pages, by name: the folders of their own, and of what they depend on. */
const bundled = new Map<string, string>();
for (const name of ['idiomorph', 'd3-scale', 'd3-shape'])
  collect(realpathSync(join(import.meta.dirname, 'packages/pages/node_modules', name)));

function collect(folder: string): void {
  const { name, dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (bundled.has(name)) return;
  bundled.set(name, folder);
  for (const dependency of Object.keys(dependencies)) collect(realpathSync(join(folder, '..', dependency)));
}

export const BUNDLED_WITH_PAGES: readonly string[] = [...bundled.keys()];

/** Their licences ask for their notice in every copy. */
export const LICENCES_OF_PAGES: { from: string; to: string; rename: string }[] = [...bundled].map(
  ([name, folder]) => ({
    from: join(folder, 'LICENSE'),
    to: 'dist',
    rename: `${name}.LICENSE`,
  }),
);

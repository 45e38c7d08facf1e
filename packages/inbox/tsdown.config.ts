import { readdirSync, readFileSync } from 'node:fs';
import { embeddedAssets } from '@payment-service/pages/embedded-assets';
import { defineConfig, type UserConfig } from 'tsdown';

/** The .sql files in place of the module that reads them, so that a bundle of a bundle needs no files. */
function embeddedSql(): { name: string; load(id: string): string | undefined } {
  return {
    name: 'embedded-sql',
    load(id) {
      if (!id.endsWith('/store/read-sql.ts')) return undefined;
      const files = readdirSync('sql', { recursive: true, encoding: 'utf8' }).filter((path) =>
        path.endsWith('.sql'),
      );
      const texts = files.map((path) => [
        path.replaceAll('\\', '/').slice(0, -'.sql'.length),
        readFileSync(`sql/${path}`, 'utf8'),
      ]);
      return `const texts = ${JSON.stringify(Object.fromEntries(texts))};
export function readSql(name: string): string { return (texts as Record<string, string>)[name] as string; }`;
    },
  };
}

const libraries = Object.fromEntries(
  ['prisma', 'drizzle', 'knex', 'typeorm', 'kysely'].map((name) => [name, `src/store/libraries/${name}.ts`]),
);

const config: UserConfig[] = defineConfig([
  {
    entry: { index: 'src/index.ts', console: 'src/console/index.ts', ...libraries },
    format: ['esm', 'cjs'],
    dts: true,
    platform: 'node',
    fixedExtension: false,
    plugins: [embeddedSql(), embeddedAssets()],
    deps: { onlyBundle: ['@payment-service/pages', 'hono'] },
    // The licences ask for their notice in every copy.
    copy: [
      { from: 'node_modules/hono/LICENSE', to: 'dist', rename: 'hono.LICENSE' },
      {
        from: '../../internal/pages/node_modules/idiomorph/LICENSE',
        to: 'dist',
        rename: 'idiomorph.LICENSE',
      },
    ],
  },
  // The thread that owns a SQLite connection: started by its path, never imported.
  {
    entry: { 'sqlite-thread': 'src/store/sqlite/sqlite-thread.ts' },
    format: ['esm'],
    dts: false,
    platform: 'node',
    fixedExtension: false,
    clean: false,
  },
  // The command: a module that nothing imports.
  {
    entry: { command: 'src/command/command.ts' },
    format: ['esm'],
    dts: false,
    platform: 'node',
    fixedExtension: false,
    clean: false,
    plugins: [embeddedSql()],
  },
]);
export default config;

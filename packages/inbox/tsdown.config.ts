import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { embeddedAssets } from '@payment-service/pages/embedded-assets';
import { defineConfig, Rolldown, type UserConfig } from 'tsdown';
import { BUNDLED_WITH_PAGES, LICENCES_OF_PAGES, moduleForTracers } from '../../tsdown.shared.ts';

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

/** The text of the SQLite thread's program in place of its file. It imports only modules of Node. */
function embeddedThread(): { name: string; load(id: string): Promise<string> | undefined } {
  return {
    name: 'embedded-thread',
    load: (id) => (id.endsWith('/sqlite/sqlite-program.ts') ? programText(id) : undefined),
  };
}

async function programText(id: string): Promise<string> {
  const { output } = await Rolldown.build({
    input: join(dirname(id), 'sqlite-thread.ts'),
    platform: 'node',
    write: false,
    output: {
      format: 'iife', // It has neither `import` nor `require`: which of them a text may use depends on Node's --input-type.
      globals: (name) => `process.getBuiltinModule('${name}')`,
      minify: true,
    },
  });
  return `export const sqliteProgram: URL | string = ${JSON.stringify(output[0].code)};`;
}

const libraries = Object.fromEntries(
  ['prisma', 'drizzle', 'knex', 'typeorm', 'kysely'].map((name) => [name, `src/store/libraries/${name}.ts`]),
);

const SHARED: UserConfig = {
  platform: 'node',
  fixedExtension: false,
  plugins: [embeddedSql(), embeddedThread(), embeddedAssets()],
  deps: { onlyBundle: ['@payment-service/pages', ...BUNDLED_WITH_PAGES, 'csv-parse', 'hono'] },
};
const ENTRIES = { index: 'src/index.ts', console: 'src/console/index.ts', ...libraries };

const config: UserConfig[] = defineConfig([
  {
    ...SHARED,
    // The command is a module that nothing imports: with the others, it shares their files.
    entry: { ...ENTRIES, command: 'src/command/command.ts' },
    format: ['esm'],
    dts: true,
    // The licences ask for their notice in every copy.
    copy: [
      { from: 'node_modules/hono/LICENSE', to: 'dist', rename: 'hono.LICENSE' },
      { from: 'node_modules/csv-parse/LICENSE', to: 'dist', rename: 'csv-parse.LICENSE' },
      ...LICENCES_OF_PAGES,
    ],
  },
  { ...SHARED, entry: ENTRIES, format: ['cjs'], dts: true, footer: moduleForTracers, clean: false },
]);
export default config;

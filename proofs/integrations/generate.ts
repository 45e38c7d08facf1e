/** `pnpm generate`: Prisma's client, and the blocks of the documents as modules, for types and tests to be checked. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;
const documents = join(here, '.generated', 'documents');

/** What the block of each library in the guide presupposes: see test/merchants.ts. */
const GIVEN = {
  prisma: 'client',
  drizzle: 'db, eq, orders, sql',
  knex: 'db',
  typeorm: 'dataSource, Order',
  kysely: 'db',
};

/**
 * Writes the Prisma client of prisma/schema.prisma. Prisma's command looks for its schema engine even if nothing uses it, and
 * would download it: any file satisfies it.
 */
function writeClient(): void {
  const command = createRequire(import.meta.url).resolve('prisma/build/index.js');
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const args = [command, 'generate', '--schema', 'prisma/schema.prisma', '--no-hints'];
  execFileSync(process.execPath, args, { cwd: here, env, stdio: 'pipe' });
}

const path = 'docs/guide/orms.md';
const text = readFileSync(join(here, '..', '..', path), 'utf8');

/** The one block of the guide in this language that imports a module. */
function blockWith(module: string, language: 'js' | 'ts'): string {
  const all = text.matchAll(/^```([jt]s)\n([\s\S]*?)^```$/gm);
  const blocks = [...all].filter(([, info]) => info === language).map(([, , code = '']) => code);
  const [block, ...others] = blocks.filter((code) => code.includes(`from '${module}'`));
  if (block === undefined || others.length > 0) throw new Error(`${path}: not one block imports ${module}`);
  return block;
}

writeClient();
mkdirSync(documents, { recursive: true });
for (const [name, given] of Object.entries(GIVEN)) {
  const block = blockWith(`@payment-service/inbox/${name}`, 'js');
  const before = [
    "import { createInbox } from '@payment-service/inbox';",
    "import { merchants } from '../../test/merchants.ts';",
    `const { ${given} } = merchants.${name};`,
  ];
  writeFileSync(join(documents, `${name}.ts`), `${before.join('\n')}\n${block}export { inbox };\n`);
}
const guide = blockWith('@payment-service/inbox/knex', 'ts');
writeFileSync(join(documents, 'guide.ts'), guide);

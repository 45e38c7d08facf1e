import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

/**
 * Writes the Prisma client of prisma/schema.prisma. Prisma's command looks for its schema engine even where nothing uses it,
 * and would download it: it is content with any file.
 */
const command = createRequire(import.meta.url).resolve('prisma/build/index.js');
const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
execFileSync(process.execPath, [command, 'generate', '--schema', 'prisma/schema.prisma', '--no-hints'], {
  cwd: import.meta.dirname,
  env,
  stdio: 'pipe',
});

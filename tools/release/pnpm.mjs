#!/usr/bin/env node
// Starts the pnpm that started this run. npm 12 runs no install scripts, so pnpm's own bin stays a placeholder that turbo
// cannot start ("Exec format error"); npm_execpath always names the real one.
import { spawnSync } from 'node:child_process';

const pnpm = process.env.npm_execpath;
if (!pnpm) {
  const cause = pnpm === '' ? 'npm_execpath names this program itself' : 'npm_execpath is not set';
  console.error(`pnpm: ${cause}. Start this through a script of pnpm, for example \`pnpm test\`.`);
  process.exit(1);
}
const isScript = /\.[cm]?js$/.test(pnpm);
const [command, first] = isScript ? [process.execPath, [pnpm]] : [pnpm, []];
// pnpm sets npm_execpath for its scripts again. If that stays empty, this program was started instead of pnpm: it would start
// itself endlessly.
const env = { ...process.env, npm_execpath: '' };
const { status, error } = spawnSync(command, [...first, ...process.argv.slice(2)], { stdio: 'inherit', env });
if (error) console.error(`pnpm: could not start ${pnpm}: ${error.message}`);
process.exit(status ?? 1);

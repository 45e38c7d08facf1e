/**
 * `pnpm bench [verify|http …]`: every part, or the named ones, compared with its peers. Prints tables, writes
 * reports/bench.json, and exits with 1 if a target is missed.
 *
 * --short runs everything once: this shows that the controls fail as expected, and what the report looks like; its figures are
 * noise, so no target is checked. --only takes the start of a framework's name (http). --rounds sets the rounds of every part.
 * --report names another file.
 */
import { makeFolder, readFlags, runProgram } from '@payment-service/durability';
import { http } from './http.ts';
import { installPacked } from './installed.ts';
import type { Part, Run } from './part.ts';
import { verify } from './verify.ts';

const PARTS: Readonly<Record<string, (run: Run) => Promise<Part>>> = { verify, http };

const flags = readFlags({ short: false, only: '', rounds: 0 }, Object.keys(PARTS));
const { short: isShort, only, rounds } = flags;
await runProgram({ name: 'bench', isShort, report: flags.report }, async () => {
  const run: Run = { ...(await installPacked(await makeFolder())), isShort, only, rounds };
  const parts: Part[] = [];
  for (const name of flags.parts) {
    const part = await PARTS[name]?.(run);
    if (part !== undefined) parts.push(part);
  }
  return { results: parts.flatMap(({ results }) => results), tables: parts.flatMap(({ tables }) => tables) };
});

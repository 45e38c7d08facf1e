import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, finish, lastLines, root, start, until } from '@payment-service/release/toolchains';
import { freePort } from '../../../../vitest.shared.ts';

const text = readFileSync(join(root, 'README.md'), 'utf8');

/** The packages that README.md tells its reader to install. */
export const README_PACKAGES: readonly string[] = part(/^npm install (.+)$/m).split(' ');
/** What the program and the command print when the first callback has arrived. */
const PRINTED = ['The callback was accepted.', 'ORD-1001 is paid'];
const MAX_MS = 30_000;

/**
 * Saves the program of README.md and runs its command on a free port.
 *
 * @param commandOf a command of the project from its line.
 * @returns the problems, and the end of the output.
 */
export async function runReadme(
  cwd: string,
  commandOf: (line: string, env: Record<string, string>) => Command,
): Promise<readonly string[]> {
  writeFileSync(join(cwd, part(/^Save this as `(.+)`:$/m)), part(/^```ts program\n([\s\S]+?)^```$/m));
  const port = await freePort();
  const line = part(/^npx (payment-service-sandbox .+)$/m).replace(':3000/', `:${port}/`);
  const running = start(commandOf(line.replace(' ', ' --port 0 '), { PORT: String(port) }));
  const missing = (): readonly string[] => PRINTED.filter((one) => !running.output().includes(one));
  await until(running, () => missing().length === 0, 'it prints too little', MAX_MS).catch(() => undefined);
  const problems = missing().map((one) => `it does not print "${one}"`);
  await finish(running);
  return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
}

function part(pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`README.md has no ${pattern.source}`);
  return found;
}

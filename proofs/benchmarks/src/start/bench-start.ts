/**
 * `pnpm lab bench:start`: how long a user waits for a program to be ready: the inbox with `ready()` on an existing database, the
 * sandbox until its first answer, and the commands until `--help` is printed. Each in a new process, of the built packages, beside
 * a floor that does only what must be done. Prints a table, writes reports/bench-start.json, and exits with 1 if a target is missed.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { difference, interleave, monotonicMs, spread } from '@payment-service/durability/measure/measure.ts';
import { makeFolder, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { createInbox, sqlite } from '@payment-service/inbox';

const PACKAGES = join(import.meta.dirname, '../../../../packages');
const built = (path: string): string => join(PACKAGES, path);

/** A new process, which is ready when it prints `ready`, or when it ends. */
interface Starter {
  readonly name: string;
  readonly args: readonly string[];
  /** Compared with this one, which does only what must be done. */
  readonly floor?: string;
  readonly target?: number;
}

const program = (code: string): readonly string[] => ['--input-type=module', '--eval', code];
const NODE = 'Node alone';
const OPENED = 'Node and a table of SQLite';
const ANSWERED = 'Node and an HTTP server';
const PARSED = 'Node and commander';

function starters(file: string): readonly Starter[] {
  const url = (path: string): string => JSON.stringify(`file://${built(path)}`);
  const at = JSON.stringify(file);
  return [
    { name: NODE, args: program('') },
    {
      name: OPENED,
      args: program(`import { DatabaseSync } from 'node:sqlite';
        new DatabaseSync(${at}).prepare('select count(*) from payment_inbox_payment').get();`),
    },
    {
      name: 'the inbox, until ready()',
      args: program(`import { createInbox, sqlite } from ${url('inbox/dist/index.js')};
        const inbox = createInbox({ store: sqlite(${at}) }); await inbox.ready();
        console.log('ready'); await inbox.close();`),
      ...{ floor: OPENED, target: 120 },
    },
    {
      name: ANSWERED,
      args: program(`import { createServer } from 'node:http';
        const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1', async () => {
          await fetch('http://127.0.0.1:' + server.address().port); console.log('ready'); process.exit(); });`),
    },
    {
      name: 'the sandbox, until its first answer',
      args: program(`import { createSandbox } from ${url('sandbox/dist/index.js')};
        const { url } = await createSandbox().listen({ port: 0 });
        await fetch(url); console.log('ready'); process.exit();`),
      ...{ floor: ANSWERED, target: 250 },
    },
    {
      name: PARSED,
      args: program(`import { Command } from ${JSON.stringify(`file://${built('inbox/node_modules/commander/index.js')}`)};
        new Command('a').option('--b <c>', 'd').parse([], { from: 'user' });`),
    },
    {
      name: 'payment-service-inbox --help',
      args: [built('inbox/dist/command.js'), '--help'],
      ...{ floor: PARSED, target: 60 },
    },
    {
      name: 'payment-service-inbox counts',
      args: [built('inbox/dist/command.js'), 'counts', '--database', file],
      ...{ floor: OPENED, target: 150 },
    },
    {
      name: 'payment-service-sandbox --help',
      args: [built('sandbox/dist/command.js'), '--help'],
      ...{ floor: PARSED, target: 60 },
    },
  ];
}

export default function (): Promise<void> {
  return runBenchmark('bench-start', { full: { rounds: 21 }, short: { rounds: 1 } }, async ({ rounds }) => {
    if (!existsSync(built('inbox/dist/command.js')))
      throw new Error('Run `pnpm build` first: built packages are measured.');
    const file = join(await makeFolder(), 'start.db');
    const inbox = createInbox({ store: sqlite(file) });
    await inbox.ready();
    await inbox.close();
    const all = starters(file);
    const samples = await interleave(all, rounds, Math.random, ({ args }) => untilReady(args));
    const byName = new Map([...samples].map(([{ name }, own]) => [name, own]));
    const results: Result[] = all.flatMap(({ name, floor, target }) => {
      const own = byName.get(name) ?? [];
      const over = floor === undefined ? undefined : byName.get(floor);
      return [
        told(name, 'ms', spread(own)),
        ...(over === undefined || target === undefined
          ? []
          : [judge(`${name}, more than ${floor}`, 'ms', difference(own, over), 'at most', target)]),
      ];
    });
    return { results };
  });
}

/** In milliseconds from the start of the process. */
function untilReady(args: readonly string[]): Promise<number> {
  const began = monotonicMs();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let at: number | undefined;
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('ready')) at ??= monotonicMs() - began;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(at ?? monotonicMs() - began);
      else reject(new Error(`${args.at(-1)} ended with ${code}.`));
    });
  });
}

/**
 * `pnpm lab bench:start`: how long a user waits for a program to be ready: the inbox with `ready()` on an existing database, the
 * sandbox until its first answer, and the commands until they have answered. Each in a new process, of packages that are packed and
 * installed, beside a floor that does only what must be done. Prints a table, writes reports/bench-start.json, and exits with 1 if a
 * target is missed.
 */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { interleave, monotonicMs, ratio, spread } from '@payment-service/durability/measure/measure.ts';
import { makeFolder, runBenchmark } from '@payment-service/durability/measure/program.ts';
import { judge, type Result, told } from '@payment-service/durability/measure/results.ts';
import { createInbox, sqlite } from '@payment-service/inbox';
import { installPacked, packPackage, publishedPackages } from '@payment-service/release/toolchains';

const USED = ['core', 'inbox', 'sandbox'];

/** A new process, which is ready when it prints `ready`, or when it ends. */
interface Starter {
  readonly name: string;
  readonly args: readonly string[];
  /** What is compared with it does only what must be done. */
  readonly floor?: string;
  /** How many times as long as the floor it may take. */
  readonly target?: number;
}

const program = (code: string): readonly string[] => ['--input-type=module', '--eval', code];
const NODE = 'Node alone';
const OPENED = 'floor: Node and a table of SQLite';
const ANSWERED = 'floor: Node and an HTTP server';
const PARSED = 'floor: Node and commander';

function starters(project: string, file: string): readonly Starter[] {
  const at = JSON.stringify(file);
  const command = (name: string, ...args: readonly string[]): readonly string[] => [
    join(project, 'node_modules', '@payment-service', name, 'dist', 'command.js'),
    ...args,
  ];
  return [
    { name: NODE, args: program('') },
    {
      name: OPENED,
      args: program(`import { DatabaseSync } from 'node:sqlite';
        new DatabaseSync(${at}).prepare('select count(*) from payment_inbox_payment').get();`),
    },
    {
      name: 'the inbox, until ready()',
      args: program(`import { createInbox, sqlite } from '@payment-service/inbox';
        const inbox = createInbox({ store: sqlite(${at}) });
        await inbox.ready();
        console.log('ready');
        await inbox.close();`),
      ...{ floor: OPENED, target: 4.5 },
    },
    {
      name: ANSWERED,
      args: program(`import { createServer } from 'node:http';
        const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1', async () => {
          await fetch('http://127.0.0.1:' + server.address().port);
          console.log('ready');
          process.exit();
        });`),
    },
    {
      name: 'the sandbox, until its first answer',
      args: program(`import { createSandbox } from '@payment-service/sandbox';
        const { url } = await createSandbox().listen({ port: 0 });
        await fetch(url);
        console.log('ready');
        process.exit();`),
      ...{ floor: ANSWERED, target: 3 },
    },
    {
      name: PARSED,
      args: program(`import { Command } from 'commander';
        new Command('a').option('--b <c>', 'd').parse([], { from: 'user' });`),
    },
    {
      name: 'payment-service-inbox --help',
      args: command('inbox', '--help'),
      ...{ floor: PARSED, target: 2.2 },
    },
    {
      name: 'payment-service-inbox counts',
      args: command('inbox', 'counts', '--database', file),
      ...{ floor: OPENED, target: 5.5 },
    },
    {
      name: 'payment-service-sandbox --help',
      args: command('sandbox', '--help'),
      ...{ floor: PARSED, target: 2.2 },
    },
  ];
}

export default function (): Promise<void> {
  return runBenchmark('bench-start', { full: { rounds: 21 }, short: { rounds: 1 } }, async ({ rounds }) => {
    const folder = await makeFolder();
    const project = join(folder, 'project');
    await mkdir(project);
    const used = publishedPackages().filter(({ name }) =>
      USED.some((one) => name === `@payment-service/${one}`),
    );
    const packed = await Promise.all(used.map((one) => packPackage(one.folder, folder)));
    const inboxFolder = used.find(({ name }) => name.endsWith('/inbox'))?.folder ?? '';
    await installPacked(packed, project, [['commander', inboxFolder]]);
    const file = join(folder, 'start.db');
    const inbox = createInbox({ store: sqlite(file) });
    await inbox.ready();
    await inbox.close();
    const all = starters(project, file);
    const samples = await interleave(all, rounds, Math.random, ({ args }) => untilReady(args, project));
    const byName = new Map([...samples].map(([{ name }, own]) => [name, own]));
    const results: Result[] = all.flatMap(({ name, floor = '', target }) => {
      const [own = [], over] = [byName.get(name), byName.get(floor)];
      const time = told(name, 'ms', spread(own));
      if (over === undefined || target === undefined) return [time];
      return [time, judge(`${name}: over its floor`, 'ratio', ratio(own, over), 'at most', target)];
    });
    return { results };
  });
}

/** In milliseconds from the start of the process. */
function untilReady(args: readonly string[], cwd: string): Promise<number> {
  const began = monotonicMs();
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
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

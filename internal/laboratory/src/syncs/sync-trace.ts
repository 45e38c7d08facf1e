import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Span } from '../load/in-concert.ts';

/** One fsync or fdatasync of a log file, from its call to its end. */
export type Sync = Span;

export interface SyncTrace {
  /** Ends the trace; the processes go on. */
  end(): Promise<readonly Sync[]>;
}

/**
 * Follows processes, their threads and their children with strace.
 *
 * @param logFile which files count: the write-ahead log, by its path.
 * @throws when strace may not follow them.
 */
export async function traceSyncs(
  pids: readonly number[],
  logFile: RegExp,
  output: string,
): Promise<SyncTrace> {
  const calls = ['-e', 'trace=fsync,fdatasync'];
  const args = [
    '-f',
    '-y',
    '-ttt',
    '-T',
    ...calls,
    '-o',
    output,
    ...pids.flatMap((pid) => ['-p', String(pid)]),
  ];
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  strace.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const exited = once(strace, 'exit');
  for (let attempt = 0; !pids.every((pid) => said.includes(`Process ${pid} attached`)); attempt++) {
    if (strace.exitCode !== null || attempt === 100) {
      strace.kill('SIGINT');
      throw new Error(`strace cannot follow the processes; it needs the right to trace them:\n${said}`);
    }
    await wait(50);
  }
  return {
    async end() {
      strace.kill('SIGINT');
      await exited;
      return syncsIn(await readFile(output, 'utf8'), logFile);
    },
  };
}

/** Reads what `strace -f -y -ttt -T` writes: a call is one line, or two when another process's call comes between. */
export function syncsIn(text: string, logFile: RegExp): readonly Sync[] {
  const begun = new Map<string, number>();
  const syncs: Sync[] = [];
  for (const line of text.split('\n')) {
    const whole = /^(\d+)\s+([\d.]+) f(?:data)?sync\(\d+<(.*)>\)\s+= 0 <([\d.]+)>$/.exec(line);
    if (whole !== null) {
      const [, , at, path = '', took] = whole;
      const begin = Number(at) * 1000;
      if (logFile.test(path)) syncs.push({ begin, end: begin + Number(took) * 1000 });
      continue;
    }
    const unfinished = /^(\d+)\s+([\d.]+) f(?:data)?sync\(\d+<(.*)> <unfinished \.\.\.>$/.exec(line);
    if (unfinished !== null) {
      const [, pid = '', at, path = ''] = unfinished;
      if (logFile.test(path)) begun.set(pid, Number(at) * 1000);
      continue;
    }
    const resumed = /^(\d+)\s+[\d.]+ <\.\.\. f(?:data)?sync resumed>\)\s+= 0 <([\d.]+)>$/.exec(line);
    const [, pid = '', took] = resumed ?? [];
    const begin = begun.get(pid);
    begun.delete(pid);
    if (resumed !== null && begin !== undefined) syncs.push({ begin, end: begin + Number(took) * 1000 });
  }
  return syncs;
}

/** Two clocks are read, one by Node and one by strace; they are the same clock, read a little apart. */
const READING_MS = 0.2;

/** How many syncs began and ended while callbacks were under way. */
export function syncsDuring(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  const first = Math.min(...acknowledgements.map(({ begin }) => begin));
  const last = Math.max(...acknowledgements.map(({ end }) => end));
  return syncs.filter(({ begin, end }) => begin >= first - READING_MS && end <= last + READING_MS).length;
}

/**
 * Acknowledgements that no sync can have been made for: none began after the request and ended before the answer. One
 * sync may serve a group.
 */
export function withoutSync(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  const sorted = [...syncs].sort((a, b) => a.begin - b.begin);
  return acknowledgements.filter(
    (one) => !sorted.some(({ begin, end }) => begin >= one.begin - READING_MS && end <= one.end + READING_MS),
  ).length;
}

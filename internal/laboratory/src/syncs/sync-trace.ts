import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import type { Span } from '../load/in-concert.ts';
import { until } from '../measure/until.ts';

/** One fsync or fdatasync of a log file, from its call to its return. */
export type Sync = Span;

/**
 * Follows processes, their threads and their children with strace.
 *
 * @param logFile matches the paths of the files that count: the write-ahead log.
 * @param output the beginning of the names of its files.
 * @returns a function that ends the trace; the processes continue.
 * @throws if strace may not follow them.
 */
export async function traceSyncs(
  pids: readonly number[],
  logFile: RegExp,
  output: string,
): Promise<() => Promise<readonly Sync[]>> {
  const followed = pids.flatMap((pid) => ['-p', String(pid)]);
  // A separate file for each process and thread: in one file, calls would interrupt each other.
  const args = ['-ff', '-y', '-ttt', '-T', '-e', 'trace=fsync,fdatasync', '-o', output, ...followed];
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  strace.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const exited = once(strace, 'exit');
  await until('strace to follow the processes', () => {
    if (strace.exitCode !== null)
      throw new Error(`strace cannot follow the processes; it needs the right to trace them:\n${said}`);
    return pids.every((pid) => said.includes(`Process ${pid} attached`)) || undefined;
  });
  return async () => {
    strace.kill('SIGINT');
    await exited;
    return globSync(`${output}.*`).flatMap((path) => syncsIn(readFileSync(path, 'utf8'), logFile));
  };
}

/** Reads the output of `strace -ff -y -ttt -T`. */
export function syncsIn(text: string, logFile: RegExp): readonly Sync[] {
  const calls = text.matchAll(/^([\d.]+) f(?:data)?sync\(\d+<(.*)>\)\s+= 0 <([\d.]+)>$/gm);
  return [...calls].flatMap(([, at, path = '', took]) => {
    const begin = Number(at) * 1000;
    return logFile.test(path) ? [{ begin, end: begin + Number(took) * 1000 }] : [];
  });
}

/** The tolerance between two readings: Node and strace read the same clock, a little apart. */
const READING_MS = 0.2;

/** The number of syncs that began and ended while callbacks were under way. */
export function syncsDuring(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  const first = Math.min(...acknowledgements.map(({ begin }) => begin));
  const last = Math.max(...acknowledgements.map(({ end }) => end));
  return syncs.filter(({ begin, end }) => begin >= first - READING_MS && end <= last + READING_MS).length;
}

/**
 * Acknowledgements that no sync can have covered: none began after the request and ended before the response. One sync may
 * cover a group.
 */
export function withoutSync(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  return acknowledgements.filter(
    (one) => !syncs.some(({ begin, end }) => begin >= one.begin - READING_MS && end <= one.end + READING_MS),
  ).length;
}

import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** The processes that a process has started and that still run. Empty where there is no procfs (macOS). */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    processes.map(async (name) => [Number(name), await parentOf(name)] as const),
  );
  return parents.filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** The fourth field; the second, the name, stands in brackets and may hold anything. */
async function parentOf(pid: string): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** @returns false when the process has ended before. */
export function signalProcess(pid: number, signal: 'SIGSTOP' | 'SIGKILL' | 'SIGQUIT'): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Sessions whose postmaster was killed end by themselves, except one that waits for another process which has ended
 * before: it would hold the shared memory for ever. What a service manager does is done here.
 */
export async function endOrphans(pids: readonly number[]): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (!(await anyRuns(pids))) return;
    await wait(50);
  }
  // By now the system may have given an id to somebody else: only those that still are what they were.
  for (const pid of pids) if (await isPostgres(pid)) signalProcess(pid, 'SIGKILL');
  while (await anyRuns(pids)) await wait(10);
}

async function anyRuns(pids: readonly number[]): Promise<boolean> {
  return (await Promise.all(pids.map(isPostgres))).includes(true);
}

async function isPostgres(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^Name:\s+postgres$/m.test(status) && !/^State:\s+Z/m.test(status);
}

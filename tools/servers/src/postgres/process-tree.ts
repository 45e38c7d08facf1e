import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/** The running child processes of a process. Empty without procfs (macOS). */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    processes.map(async (name) => [Number(name), Number((await statOf(name))[1])] as const),
  );
  return parents.filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** Resolves when the process has stopped: if it is starting another when the signal is sent, it completes that first. */
export async function stopProcess(pid: number): Promise<void> {
  signalProcess(pid, 'SIGSTOP');
  while (/^[DRS]/.test((await statOf(pid))[0] ?? '')) await wait(1);
}

/** The fields from the third on: the state and the parent. The second field, the name in brackets, may contain anything. */
async function statOf(pid: number | string): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** @returns False if the process has already ended. */
export function signalProcess(pid: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Ends the sessions of a killed postmaster. Most notice and end, but one that waits for an ended process would keep the shared
 * memory permanently. On a real server, the service manager kills it.
 */
export async function endOrphans(pids: readonly number[]): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (!(await anyRuns(pids))) return;
    await wait(50);
  }
  // The system may have reassigned an id to another program: only sessions of PostgreSQL are killed.
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

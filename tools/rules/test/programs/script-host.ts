/**
 * Runs a script on each request. Like a process, a run ends when nothing is left to wait for: it waits for whatever the script
 * leaves open.
 */
import { pathToFileURL } from 'node:url';

interface Run {
  readonly file: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What has been printed, and an error or a top-level `await` that nothing ends. */
const run = { stdout: '', output: '', problem: '' };
let runs = 0;
let isRunning = false;
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: unknown): boolean => {
    if (name === 'stdout') run.stdout += String(text);
    run.output += String(text);
    return true;
  };
}

process.on('message', ({ file, cwd, env }: Run) => {
  isRunning = true;
  process.channel?.unref();
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(run, { stdout: '', output: '', problem: 'it ended before its last line' });
  process.chdir(cwd);
  runs += 1;
  void import(`${pathToFileURL(file)}?run=${runs}`).then(
    () => Object.assign(run, { problem: '' }),
    (error: Error) => Object.assign(run, { problem: String(error.stack) }),
  );
});
process.on('beforeExit', () => {
  if (!isRunning) return;
  isRunning = false;
  process.chdir(import.meta.dirname);
  process.channel?.ref();
  process.send?.(run);
});

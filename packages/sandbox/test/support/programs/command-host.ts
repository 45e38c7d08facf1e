/**
 * Runs payment-service-sandbox on each request. Like a process, a run ends when nothing is left to wait for: it waits for
 * whatever the command leaves open.
 */
interface Run {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

let runs = 0;
let isRunning = false;
const printed = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: unknown): boolean => {
    printed[name] += String(text);
    return true;
  };
}

process.on('message', ({ args, cwd, env }: Run) => {
  isRunning = true;
  process.channel?.unref();
  process.stdout.removeAllListeners('error');
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(printed, { stdout: '', stderr: '' });
  process.exitCode = 0;
  process.chdir(cwd);
  runs += 1;
  void import(`../../../src/command/command.ts?run=${runs}`);
});
process.on('beforeExit', () => {
  if (!isRunning) return;
  isRunning = false;
  // The test removes the folder of the run.
  process.chdir(import.meta.dirname);
  process.channel?.ref();
  process.send?.({ code: process.exitCode, ...printed });
});

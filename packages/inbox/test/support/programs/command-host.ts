/**
 * Runs payment-service-inbox as often as it is told to. A run has ended when nothing of it is left to wait for, as a process
 * ends: what the command leaves open, it waits for.
 */
interface Run {
  readonly args: readonly string[];
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

process.on('message', ({ args, env }: Run) => {
  isRunning = true;
  process.channel?.unref();
  process.stdout.removeAllListeners('error');
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(printed, { stdout: '', stderr: '' });
  process.exitCode = 0;
  runs += 1;
  void import(`../../../src/command/command.ts?run=${runs}`);
});
process.on('beforeExit', () => {
  if (!isRunning) return;
  isRunning = false;
  process.channel?.ref();
  process.send?.({ code: process.exitCode, ...printed });
});

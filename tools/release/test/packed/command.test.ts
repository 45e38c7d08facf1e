/** The installed commands: both start, and the sandbox responds, keeps its file and ends on Ctrl-C. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, readTarballs, start, until, userNodes } from '@payment-service/release/toolchains';
import { expect, inject, onTestFinished, test } from 'vitest';

const scratch = inject('scratch');
const packages = await readTarballs(join(scratch, 'tarballs'));
const manifest = packages.find((one) => one.manifest.name === '@payment-service/sandbox')?.manifest;
if (manifest?.bin === undefined) throw new Error('the sandbox has no command');
const [[name = '', path = ''] = []] = Object.entries(manifest.bin);
const command = join(scratch, 'node_modules', manifest.name, path);

/** Starts an installed command with an empty environment. */
function startOn(binary: string, ...args: readonly string[]): Running {
  const running = start({ command: binary, args, cwd: scratch, isAlone: true });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  return running;
}

test.each(userNodes(manifest))(`${name} runs on Node $version`, async ({ binary, version }) => {
  const file = join(scratch, `sandbox-${version}.sqlite`);
  const running = startOn(binary, command, '--port', '0', '--file', file);
  const address = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(running.output())?.[0];
  await until(running, () => address() !== undefined, 'it prints no address', 60_000);
  const answer = await fetch(`${address()}/data/payment-providers`);
  expect(answer.status).toBe(401);
  expect(existsSync(file)).toBe(true);
  running.child.kill('SIGINT');
  expect(await running.ended).toBe(0);
});

const commands = packages.flatMap(({ manifest: owner }) =>
  Object.entries(owner.bin ?? {}).flatMap(([own, target]) => {
    const file = join(scratch, 'node_modules', owner.name, target);
    return userNodes(owner).map((node) => ({ own, file, ...node }));
  }),
);

test.each(commands)('$own says how to use it on Node $version', async ({ binary, own, file }) => {
  const { ended, stdout, output } = startOn(binary, file, '--help');
  expect(await ended).toBe(0);
  expect(stdout()).toContain(`Usage: ${own}`);
  expect(output(), 'nothing on stderr').toBe(stdout());
});

/** The installed commands: both start, and the sandbox answers, keeps its file and ends on Ctrl-C. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readTarballs, userNodes } from '@payment-service/toolchains';
import { afterEach, expect, inject, test } from 'vitest';
import { supports } from '../src/supports.ts';

const scratch = inject('scratch');
const packages = await readTarballs(join(scratch, 'tarballs'));
const manifest = packages.find((one) => one.manifest.name === '@payment-service/sandbox')?.manifest;
if (manifest?.bin === undefined) throw new Error('the sandbox has no command');
const [[name = '', path = ''] = []] = Object.entries(manifest.bin);
const command = join(scratch, 'node_modules', manifest.name, path);

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill('SIGKILL');
});

test.each(userNodes().filter((node) => supports(manifest, node)))(
  `${name} runs on Node $version`,
  async ({ binary, version }) => {
    const file = join(scratch, `sandbox-${version}.sqlite`);
    const args = [command, '--port', '0', '--file', file];
    child = spawn(binary, args, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const url = await addressIn(child);
    const answer = await fetch(`${url}/data/payment-providers`);
    expect(answer.status).toBe(401);
    expect(existsSync(file)).toBe(true);
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  },
);

const commands = packages.flatMap(({ manifest: owner }) =>
  Object.entries(owner.bin ?? {}).map(([own, target]) => ({
    own,
    owner,
    file: join(scratch, 'node_modules', owner.name, target),
  })),
);

test.each(
  commands.flatMap((each) =>
    userNodes()
      .filter((node) => supports(each.owner, node))
      .map((node) => ({ ...each, ...node })),
  ),
)('$own says how to use it on Node $version', async ({ binary, own, file }) => {
  const { stdout, stderr } = await promisify(execFile)(binary, [file, '--help'], { env: {} });
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining(`Usage: ${own}`), stderr: '' });
});

/** The address that the command prints; rejects if it ends without one. */
function addressIn({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      if (address !== null) resolve(address[0]);
    });
    stdout?.on('end', () => reject(new Error(`no address in: ${output}`)));
  });
}

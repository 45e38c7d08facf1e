import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../../../../vitest.shared.ts';
import { commandFile } from '../programs/first-callback.ts';
import { COMPILED } from '../programs/running-program.ts';
import { type Mistake, scoreOf } from './mistakes.ts';

/** How long the output may take to name the cause: the sandbox gives a slow handler 10 seconds. */
const PATIENCE_MS = 45_000;

/** Runs the program under the command that the README shows, until its output has the full score or it ends. */
export async function outputOf(mistake: Mistake, folder: string): Promise<string> {
  const home = join(folder, mistake.name.replaceAll(/\W+/g, '-'));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'server.mjs'), mistake.program);
  const port = await freePort();
  const url = (mistake.url ?? 'http://127.0.0.1:PORT/payments/callbacks').replace('PORT', String(port));
  const args = ['--port', '0', '--memory', '--callback-url', url, '--', 'node', 'server.mjs'];
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const child = spawn(process.execPath, [commandFile(), ...args], {
    cwd: home,
    env: { ...COMPILED, PATH: path, PORT: String(port), ...mistake.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let output = '';
  const enough = new Promise<void>((resolve) => {
    const add = (chunk: Buffer): void => {
      output += chunk.toString();
      if (scoreOf(mistake, output) === 2) resolve();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
  });
  const impatience = setTimeout(() => child.kill(), PATIENCE_MS);
  await Promise.race([enough, closed]);
  // A second signal ends the program as well, if the first one does not.
  child.kill();
  const last = setTimeout(() => child.kill(), 2000);
  await closed;
  clearTimeout(impatience);
  clearTimeout(last);
  return output;
}

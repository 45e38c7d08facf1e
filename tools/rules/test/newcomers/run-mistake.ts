import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { start, until } from '@payment-service/release/toolchains';
import { freePort } from '../../../../vitest.shared.ts';
import { commandFile } from '../programs/first-callback.ts';
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
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const running = start({
    command: process.execPath,
    args: [commandFile(), '--port', '0', '--memory', '--callback-url', url, '--', 'node', 'server.mjs'],
    cwd: home,
    env: { PATH, PORT: String(port), ...mistake.env },
    isAlone: true,
  });
  const { child, ended, output } = running;
  const isEnough = (): boolean => scoreOf(mistake, output()) === 2;
  await until(running, isEnough, 'it says too little', PATIENCE_MS).catch(() => undefined);
  child.kill();
  // A second signal ends the program as well, if the first one does not.
  const last = setTimeout(() => child.kill(), 2000);
  await ended;
  clearTimeout(last);
  return output();
}

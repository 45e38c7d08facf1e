import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../apps/shop/src/demo.ts', import.meta.url));

export interface Demo {
  readonly shop: string;
  readonly close: () => Promise<void>;
}

/** Starts what `pnpm start` starts, on free ports. */
export async function startDemo(): Promise<Demo> {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, PORT: '0', SANDBOX_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { shop: await addressIn(child), close: () => stopped(child) };
}

function addressIn({ stdout }: { readonly stdout: Readable }): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout.on('data', (chunk) => {
      text += chunk;
      const [, shop] = /Shop +(http:\S+)[\s\S]*Ctrl-C/.exec(text) ?? [];
      if (shop !== undefined) resolve(shop);
    });
    stdout.once('end', () => reject(new Error(`The demo ended before it listened: ${text}`)));
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}

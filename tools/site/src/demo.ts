import { finish, root, start, until } from '@payment-service/release/toolchains';

const MAX_STARTING_MS = 240_000;

export interface Demo {
  readonly shop: string;
  readonly close: () => Promise<unknown>;
}

/** Starts the same programs as `pnpm start`, on free ports. */
export async function startDemo(): Promise<Demo> {
  const running = start({
    command: process.execPath,
    args: ['apps/shop/src/demo.ts'],
    cwd: root,
    env: { PORT: '0', SANDBOX_PORT: '0' },
  });
  const shop = (): string | undefined => /Shop +(http:\S+)[\s\S]*Ctrl-C/.exec(running.output())?.[1];
  await until(running, () => shop() !== undefined, 'the demo does not listen', MAX_STARTING_MS);
  return { shop: shop() ?? '', close: () => finish(running) };
}

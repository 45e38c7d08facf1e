const closers: (() => Promise<unknown>)[] = [];

/** Has something closed at the end of the run, whichever way it ends; what came last goes first. */
export function atTheEnd(close: () => Promise<unknown>): void {
  closers.push(close);
}

export async function cleanUp(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void cleanUp().finally(() => process.exit(1));
  });
}

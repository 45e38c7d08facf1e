import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInbox, sqlite } from '../src/index.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

describe('the path of a sqlite file that is a symbolic link', () => {
  // Only Linux has memory at a place that is known: elsewhere there is no such test, rather than a skipped one.
  const memories = process.platform === 'linux' ? ['/dev/shm'] : [];
  it.each(memories)('is refused when it leads to memory (%s), whether the file exists or not', (memory) => {
    const target = join(memory, `inbox-${process.pid}.db`);
    onTestFinished(() => rmSync(target, { force: true }));
    const [link, further] = [join(temporaryFolder(), 'x.db'), join(temporaryFolder(), 'y.db')];
    symlinkSync(target, link);
    symlinkSync(link, further);
    for (const path of [link, further]) expect(() => sqlite(path)).toThrow(/memory/);
  });

  it('is refused when it leads to itself, or into a folder that does not exist', () => {
    const folder = temporaryFolder();
    symlinkSync('ring.db', join(folder, 'ring.db'));
    symlinkSync(join('missing', 'x.db'), join(folder, 'lost.db'));
    expect(() => sqlite(join(folder, 'ring.db'))).toThrow(/leads to itself/);
    expect(() => sqlite(join(folder, 'lost.db'))).toThrow(/does not exist/);
  });
});

describe('a spool that is the file of the store', () => {
  it.each(['shop.db', './shop.db', 'link.db'])('is refused: %s', (spool) => {
    const folder = temporaryFolder();
    symlinkSync('shop.db', join(folder, 'link.db'));
    const store = sqlite(join(folder, 'shop.db'));
    const open = (): unknown => createInbox({ store, spool: join(folder, spool) });
    expect(open).toThrow(ConfigurationError);
    expect(open).toThrow(/the file of the store itself/);
  });
});

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const statfs = vi.hoisted(() => ({ type: undefined as number | undefined }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    statfsSync: (path: string) => ({ ...fs.statfsSync(path), ...(statfs.type === undefined ? {} : statfs) }),
  };
});

// Only Linux tells the type of a file system, and has memory at a place that is known: elsewhere there is no such test.
const linux = process.platform === 'linux';
const memories = linux ? ['/dev/shm'] : [];
const networks = linux ? [0x6969, 0x517b, 0xff534d42, 0xfe534d42] : [];

describe('the path of a sqlite file is refused', () => {
  it.each([
    ':memory:',
    '',
    ' ',
    'x\0.db',
    'file::memory:?cache=shared',
    'file:x.db?mode=memory',
    '\\\\host\\share\\x.db',
    '//host/x.db',
  ])('at %j', (path) => {
    expect(() => sqlite(path)).toThrow(ConfigurationError);
    expect(() => createInbox({ store: sqlite('x.db'), spool: path })).toThrow(ConfigurationError);
  });

  it('in a folder that does not exist', () => {
    expect(() => sqlite(join(temporaryFolder(), 'missing', 'x.db'))).toThrow(/does not exist/);
  });

  it.each(networks)('on a network file system (%i)', (type) => {
    const folder = temporaryFolder();
    expect(sqlite(join(folder, 'x.db')).dialect).toBe('sqlite');
    onTestFinished(() => {
      statfs.type = undefined;
    });
    statfs.type = type;
    expect(() => sqlite(join(folder, 'x.db'))).toThrow(/a network file system/);
  });

  it.each(memories)('in memory that looks like a disk (%s)', (memory) => {
    const folder = mkdtempSync(join(memory, 'inbox-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(() => sqlite(join(folder, 'x.db'))).toThrow(/memory/);
  });

  it.each(memories)('as a link that leads to a file in memory (%s)', (memory) => {
    const target = join(memory, `inbox-${process.pid}.db`);
    onTestFinished(() => rmSync(target, { force: true }));
    writeFileSync(target, '');
    const link = join(temporaryFolder(), 'x.db');
    symlinkSync(target, link);
    expect(() => sqlite(link)).toThrow(/memory/);
  });
});

describe('a spool that is the file of the store', () => {
  it.each(['shop.db', './shop.db'])('is refused: %s', (spool) => {
    const folder = temporaryFolder();
    const store = sqlite(join(folder, 'shop.db'));
    expect(() => createInbox({ store, spool: join(folder, spool) })).toThrow(ConfigurationError);
  });
});

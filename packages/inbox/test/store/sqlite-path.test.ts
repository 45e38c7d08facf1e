import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { databasePath } from '../../src/store/database-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Only Linux tells the type of a file system, and has memory at a place that is known: elsewhere there is no such test.
const memories = process.platform === 'linux' ? ['/dev/shm'] : [];

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

  it.each([0x6969, 0x517b, 0xff534d42, 0xfe534d42])('on a network file system (%i)', (type) => {
    const path = join(temporaryFolder(), 'x.db');
    expect(databasePath(path, 'path')).toBe(path);
    expect(() => databasePath(path, 'path', () => type)).toThrow(/a network file system/);
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

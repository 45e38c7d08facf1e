import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findPrograms } from '../../src/cluster/programs.ts';
import { runLab } from '../../src/measure/run-lab.ts';

test('without its programs the cluster run fails with 2, names the packages, and tests nothing', () => {
  const folder = makeFolder();
  // When run as root, it looks for another user with this program.
  symlinkSync('/usr/bin/id', join(folder, 'id'));
  const { status, stdout, stderr } = runLab(['cluster'], { PATH: folder });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain('cannot be started: patroni, etcd');
  expect(stderr).toContain('patroni python3-etcd etcd-server');
  expect(stderr).toContain('Nothing was tested or installed.');
});

test('a program that exists and does not start counts as missing', () => {
  const folder = makeFolder();
  // A user other than root must be able to reach it.
  chmodSync(folder, 0o755);
  for (const name of ['patroni', 'etcd'])
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const env = { PATH: '/nonexistent', CLUSTER_PROGRAMS: folder };

  expect(findPrograms(env)).toMatch(/cannot be started: patroni, etcd/);
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-laboratory-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

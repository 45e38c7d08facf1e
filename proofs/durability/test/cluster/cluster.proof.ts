import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ClusterOutcome, judgeCluster, type Round } from '../../src/cluster/cluster-test.ts';
import {
  type ClusterOptions,
  etcdFlags,
  haproxyCfg,
  type NodePorts,
  patroniYml,
} from '../../src/cluster/configuration.ts';
import { findPrograms } from '../../src/cluster/programs.ts';
import { FAULTS } from '../../src/history/judge-history.ts';
import { runLab } from '../../src/measure/run-lab.ts';
import { verdictOf } from '../support/verdict.ts';

const NODE: NodePorts = {
  name: 'a',
  rest: 1,
  postgres: 2,
  restThroughLink: 3,
  postgresThroughLink: 4,
  etcdThroughLinks: [5, 6, 7],
};
const WHERE = { data: '/data', programs: '/programs' };

test.each([true, false])(
  'Patroni is configured so that synchronous mode and its strict form are %s',
  (isSynchronous) => {
    const modes = { synchronous_mode: isSynchronous, synchronous_mode_strict: isSynchronous };
    const postgresql = { parameters: { synchronous_commit: 'on' } };
    expect(patroni({ isSynchronous, password: 'p', ttl: 30 })).toMatchObject({
      bootstrap: { dcs: { ...modes, postgresql } },
    });
  },
);

test.each([20, 21, 30, 60, 97])('with a ttl of %i s Patroni has time for one loop and two retries', (ttl) => {
  const { dcs } = patroni({ isSynchronous: true, password: 'p', ttl }).bootstrap;
  expect(dcs.loop_wait + 2 * dcs.retry_timeout).toBeLessThanOrEqual(ttl);
});

test('other nodes and etcd are reached through links, which can be cut, and HAProxy reaches a node directly', () => {
  const { restapi, postgresql, etcd } = patroni({ isSynchronous: true, password: 'p', ttl: 30 });
  expect([restapi['listen'], restapi['connect_address']]).toEqual(['127.0.0.1:1', '127.0.0.1:3']);
  expect([postgresql['listen'], postgresql['connect_address']]).toEqual(['127.0.0.1:2', '127.0.0.1:4']);
  expect(etcd).toEqual({ hosts: ['127.0.0.1:5', '127.0.0.1:6', '127.0.0.1:7'], use_proxies: true });
  expect(haproxyCfg(9, [NODE])).toContain('bind 127.0.0.1:9\n');
  expect(haproxyCfg(9, [NODE])).toContain('server a 127.0.0.1:2 check port 1\n');
  expect(haproxyCfg(9, [NODE])).toContain('on-marked-down shutdown-sessions\n');
});

test('the members of etcd know each other', () => {
  const ports = [1, 2, 3].map((n) => ({ client: n, peer: n + 10 }));
  expect(etcdFlags(1, '/etcd', ports)).toContain('--listen-peer-urls=http://127.0.0.1:12');
  expect(etcdFlags(1, '/etcd', ports)).toContain(
    '--initial-cluster=etcd0=http://127.0.0.1:11,etcd1=http://127.0.0.1:12,etcd2=http://127.0.0.1:13',
  );
});

test('without its programs the cluster run fails with 2, names the packages, and tests nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-laboratory-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // When run as root, it looks for another user with this program.
  symlinkSync('/usr/bin/id', join(folder, 'id'));
  const { status, stdout, stderr } = runLab(['cluster'], { PATH: folder });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain('cannot be started: patroni, etcd');
  expect(stderr).toContain('patroni python3-etcd etcd-server');
  expect(stderr).toContain('Nothing was tested, and nothing was installed.');
});

test('a program that exists and does not start counts as missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-laboratory-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // A user other than root must be able to reach it.
  chmodSync(folder, 0o755);
  for (const name of ['patroni', 'etcd'])
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const env = { PATH: '/nonexistent', CLUSTER_PROGRAMS: folder };

  expect(findPrograms(env)).toMatch(/cannot be started: patroni, etcd/);
});

const FIGURES = { due: 200, appliedOnce: 200 };
const ROUND: Round = { fault: 'killed', from: 'a', to: 'b', at: 0, underWay: 3, during: [], after: [] };

test('a cluster run passes if it lost nothing and its control lost and warned', () => {
  expect(missed({}, {})).toEqual([]);
});

test.each([
  [{ rounds: [ROUND] }, {}, 'failovers to another node, with requests under way'],
  [{ rounds: [ROUND, { ...ROUND, to: 'a' }] }, {}, 'failovers to another node, with requests under way'],
  [{ rounds: [ROUND, { ...ROUND, underWay: 0 }] }, {}, 'failovers to another node, with requests under way'],
  [{ recoveryMs: [4000, Number.POSITIVE_INFINITY] }, {}, 'the longest of them'],
  [{ warnings: ['ASYNCHRONOUS_STANDBY'] }, {}, 'warnings at the start'],
  [{ verdict: verdictOf({ doubled: ['A'] }, FIGURES) }, {}, FAULTS.doubled],
  [{}, { verdict: verdictOf({ dropped: ['B'] }) }, `control, asynchronous: ${FAULTS.lost}`],
])('a cluster run fails with %j and the control %j', (synchronous, control, name) => {
  expect(missed(synchronous, control)).toEqual([name]);
});

function missed(synchronous: Partial<ClusterOutcome>, control: Partial<ClusterOutcome>): readonly string[] {
  const outcome: ClusterOutcome = {
    rounds: [ROUND, ROUND],
    recoveryMs: [4000, 5000],
    verdict: verdictOf({}, FIGURES),
    states: {},
    warnings: [],
    doctorBefore: [],
    seconds: 1,
  };
  const losing = { verdict: verdictOf({ lost: ['A'], dropped: ['B'] }), warnings: ['ASYNCHRONOUS_STANDBY'] };
  const results = judgeCluster({ ...outcome, ...synchronous }, { ...outcome, ...losing, ...control }, 2);
  return results.filter(({ met }) => !met).map(({ name }) => name);
}

function patroni(options: ClusterOptions) {
  return JSON.parse(patroniYml(NODE, options, WHERE));
}

/**
 * `pnpm lab hostile`: sends more than 400 hostile requests to every framework with an adapter, on real sockets, and runs the
 * heavy attacks at full size: bodies of 100 MB, a thousand connections, streams left open. Prints a table, writes
 * reports/hostile.json, and exits with 1 if a verdict is wrong or a bound is missed. The control, a receiver that collects
 * bodies, must break a bound under every attack. `--short`: the smaller sizes of the tests.
 */
import {
  brokenBounds,
  type HostileServer,
  type JudgedServer,
  judgeServer,
  MAX_GROWTH_BYTES,
  NAIVE,
  type Resisted,
  resistAttacks,
} from '@payment-service/adapter-conformance/hostile';
import { runBenchmark } from '../measure/program.ts';
import { judge, type Result } from '../measure/results.ts';
import type { Table } from '../measure/tables.ts';

const PACKAGES = {
  express: ['express 4', 'express 5'],
  fastify: ['fastify 5'],
  koa: ['koa 2', 'koa 3'],
  fetch: ['fetch', 'hono'],
};
const SERVERS: readonly HostileServer[] = Object.entries(PACKAGES).flatMap(([folder, names]) => {
  const program = new URL(`../../../../packages/${folder}/test/hostile-server.ts`, import.meta.url);
  return names.map((name) => ({ name, program }));
});

/** What must be zero over all attacks; the first word names what is counted. */
const MUST_BE_ZERO: Readonly<Record<string, (one: Resisted) => number>> = {
  'sockets left': ({ socketsLeft }) => socketsLeft,
  'streams left': ({ streamsLeft }) => streamsLeft,
  'answers with another status': ({ otherAnswers }) => otherAnswers,
  'attacks that ended early': ({ failure }) => Number(failure !== undefined),
  'attacks after which a genuine callback failed': ({ isHealthy }) => Number(!isHealthy),
};

await runBenchmark('hostile', { full: {}, short: {} }, async (_pace, isShort) => {
  const judged: Record<string, JudgedServer> = {};
  const resisted: Record<string, readonly Resisted[]> = {};
  for (const server of SERVERS) {
    judged[server.name] = await judgeServer(server);
    resisted[server.name] = await resistAttacks(server, { isFull: !isShort, patienceSeconds: 300 });
  }
  const control = await resistAttacks(NAIVE, { isFull: false, patienceSeconds: 3 });
  const kept = 'control: attacks under which a receiver that collects bodies kept every bound';
  const results = [
    ...Object.entries(judged).flatMap(([name, one]) => judgeVerdicts(name, one)),
    ...Object.entries(resisted).flatMap(([name, attacks]) => judgeBounds(name, attacks)),
    judge(kept, 'attacks', unbroken(control), 'exactly', 0),
  ];
  const tables = [attackTable(Object.values(resisted).flat(), control), differenceTable(judged)];
  return { results, tables, judged, resisted, control };
});

function judgeVerdicts(name: string, { judged, sockets, streams }: JudgedServer): readonly Result[] {
  const wrong = judged.filter(({ verdict, expected }) => verdict !== expected);
  for (const { request, protocol, verdict, expected } of wrong)
    console.error(`${name}, ${protocol}: ${request}: ${verdict}, not ${expected}`);
  return [
    judge(`${name}: requests`, 'requests', judged.length, 'at least', 400),
    judge(`${name}: other verdicts`, 'requests', wrong.length, 'exactly', 0),
    judge(`${name}: sockets and streams left after all requests`, 'sockets', sockets + streams, 'exactly', 0),
  ];
}

function judgeBounds(name: string, attacks: readonly Resisted[]): readonly Result[] {
  const growth = Math.max(...attacks.map(({ growthBytes }) => growthBytes));
  return [
    judge(`${name}: most live heap under attack`, 'MB', growth / 1e6, 'at most', MAX_GROWTH_BYTES / 1e6),
    ...Object.entries(MUST_BE_ZERO).map(([what, of]) => {
      const total = attacks.reduce((sum, one) => sum + of(one), 0);
      return judge(`${name}: ${what}`, what.split(' ')[0] ?? '', total, 'exactly', 0);
    }),
  ];
}

function unbroken(attacks: readonly Resisted[]): number {
  return attacks.length === 0 ? Number.NaN : attacks.filter((one) => boundsOf(one).length === 0).length;
}

/** Ignores how the attack itself ended, which proves nothing about the control. */
function boundsOf(one: Resisted): readonly string[] {
  return brokenBounds({ ...one, failure: undefined });
}

function attackTable(all: readonly Resisted[], control: readonly Resisted[]): Table {
  const heap = ['live heap, least', 'most', 'resident, most'];
  return {
    title: 'Attacks: the most live heap of any server, in MB',
    head: ['', 'answers', 'MB read', ...heap, 'the control, smaller figures'],
    rows: control.map((own) => {
      const same = all.filter(({ attack }) => attack === own.attack);
      const inMB = (value: number): string => (value / 1e6).toFixed(1);
      const most = (of: (one: Resisted) => number): string => inMB(Math.max(...same.map(of)));
      const least = inMB(Math.min(...same.map(({ growthBytes }) => growthBytes)));
      const answers = Math.max(...same.map((one) => one.answers));
      const read = most(({ bytesRead }) => bytesRead);
      const grown = [least, most(({ growthBytes }) => growthBytes), most((one) => one.residentGrowthBytes)];
      return [own.attack, String(answers), read, ...grown, boundsOf(own).join(', ')];
    }),
  };
}

function differenceTable(servers: Readonly<Record<string, JudgedServer>>): Table {
  return {
    title: 'What a framework decides before the adapter',
    head: ['', 'protocol', 'request', 'verdict', ''],
    rows: Object.entries(servers).flatMap(([name, { judged }]) =>
      judged.flatMap(({ request, protocol, verdict, reason }) =>
        reason === undefined ? [] : [[name, protocol, request, verdict, reason]],
      ),
    ),
  };
}

/**
 * Threat A62: no request ends the process that receives callbacks. Each documented mount, in a process that all of them share, gets
 * every odd request that Node's parser lets through, and some that it does not, and still accepts a genuine callback.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { signCallback } from '@payment-service/core/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT, CALLBACKS } from './support/mounts.ts';
import { genuine, newFile } from './support/open-shop.ts';

const PROGRAM = join(import.meta.dirname, 'support/programs/mounted.ts');
const MOUNTS = [
  ...['node:http', 'Express 4', 'Express 5', 'Fastify 5', 'Koa 3', 'Hono'],
  ...['shop on express', 'shop on fastify', 'shop on koa', 'sandbox'],
];

/** The bytes of a request, of which \u0080 to \u00ff are one each, and when the sender leaves. */
type Odd = readonly [sent: string, leaves?: 'before the answer' | 'in the answer'];

const HOSTS = [
  ...[
    'a@x',
    'a:b@x',
    '@',
    '@x',
    '',
    ' ',
    '[',
    '[::1',
    ']',
    'x y',
    'x\ty',
    'http://x',
    '//x',
    'x/y?',
    'x?',
    'x#y',
    '\\',
    'x\\y',
  ],
  ...[
    'x:',
    'x:x',
    'x:99999',
    ':80',
    '%',
    '%zz',
    'x%00',
    'é',
    '\u00ff\u0080',
    '<x>',
    '..',
    '0x7f.1',
    'xn--',
    'x'.repeat(9000),
  ],
];
const TARGETS = [
  ...[
    '*',
    '/',
    '//',
    '///',
    'http://x/',
    'http://',
    'http://a@x/',
    'https://[/',
    'x:',
    '/%',
    '/%zz',
    '/%ff',
    '/%00',
    '/\\',
    '/..;/',
  ],
  ...[
    '//x/BASE',
    'BASE?',
    'BASE#',
    'BASE/',
    'BASE//',
    'BASE/%',
    'BASE/%ff',
    'BASE/.',
    'BASE/..',
    'BASE/%2e%2e',
    'BASE\\',
    'BASE/é',
  ],
  ...[
    'BASE/\u00ff',
    'BASE/__proto__',
    'BASE/constructor',
    'BASE/assets/',
    'BASE/assets/..%2f..',
    'BASE/payments?limit=1e999',
  ],
  ...[
    'BASE/payments?after=%ff&since=9999999-01-01&state=__proto__',
    'BASE/reconcile?from=x&before=1&charges=%zz&map==',
    'http://xBASE',
  ],
  ...[
    'BASE/payment?reference=%00&type=%00',
    'BASE/payments?search=%00&after=1+x+%00',
    'BASE/payments.csv',
    `BASE?${'a&'.repeat(4000)}`,
    `/${'%'.repeat(8000)}`,
    '/orders/%ff',
    '/checkout?product=%',
  ],
];
const HEADERS = [
  ...[
    'content-length: 0\r\ncontent-length: 0',
    'content-length: 1\r\ncontent-length: 2',
    'content-length: x',
    'content-length: -1',
  ],
  ...[
    'content-length: 99',
    'transfer-encoding: chunked',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: x',
  ],
  ...[
    '__proto__: x',
    'constructor: x',
    'cookie: %zz',
    'cookie: ;;=;=;__proto__=1',
    'cookie: inbox-console-said=%ff',
    'cookie: \u00ff=\u0080',
  ],
  ...[
    'expect: 100-continue',
    'expect: x',
    'upgrade: websocket\r\nconnection: upgrade',
    'upgrade: h2c',
    'connection: x\r\nx: x',
    'te: x',
  ],
  ...[
    'origin: x',
    'origin: null',
    'origin: http://a@x',
    'sec-fetch-site: \u00ff',
    'referer: http://[',
    'if-none-match: "',
    'x-refresh: ',
  ],
  ...[
    'content-type: \u00ff',
    'content-type: multipart/form-data',
    'content-type: x/',
    'content-encoding: gzip',
    'accept: */;q=x',
  ],
  ...[
    'x-forwarded-host: a@x',
    'forwarded: \u00ff',
    'content-length: 99999999999999999999',
    'hmac-signature: t=,s=',
    'x-api-version: ',
  ],
];

const write = (method: string, target: string, host: string | undefined, rest = '', body = ''): string =>
  `${method} ${target} HTTP/1.1\r\n${host === undefined ? '' : `host: ${host}\r\n`}connection: close\r\n${rest && `${rest}\r\n`}\r\n${body}`;

function oddRequests(base: string, host: string): Odd[] {
  const pages = [base || '/', `${base}/payments`];
  const console = base || '/';
  const form = `sec-fetch-site: same-origin\r\ncookie: inbox-console=${'a'.repeat(32)}\r\ncontent-type: application/x-www-form-urlencoded`;
  const action = `${base}/acts/retry`;
  const table: Odd[] = [
    ...HOSTS.map((odd): Odd => [write('GET', console, odd)]),
    ...HOSTS.map((odd): Odd => [write('POST', action, odd, `${form}\r\ncontent-length: 3`, 'a=b')]),
    ...TARGETS.map((target): Odd => [write('GET', target.replaceAll('BASE', base), host)]),
    ...HEADERS.flatMap((headers): Odd[] => [
      [write('POST', CALLBACKS, host, headers, '5\r\na=b&c\r\n0\r\n\r\n')],
      [write('POST', action, host, `${form}\r\n${headers}`, '5\r\na=b&c')],
    ]),
    ...[...METHODS, 'NONE', 'get'].map((method): Odd => [write(method, console, host)]),
    [write('GET', console, undefined)],
    [`GET ${console} HTTP/1.0\r\n\r\n`],
    [`GET ${console} HTTP/1.0\r\nhost: a@x\r\n\r\n`],
    [`GET ${console} HTTP/0.9\r\n\r\n`],
    [`GET ${console} HTTP/1.1\r\nhost: ${host}\r\nhost: a@x\r\nconnection: close\r\n\r\n`],
    [`GET ${console} HTTP/1.1\r\nhost: a@x\r\n\r\n`.repeat(5) + write('GET', console, host)],
    // Senders who leave in the middle of a body, before the answer and in the middle of it.
    ...[action, `${base}/reconcile`, CALLBACKS, '/checkout', '/dashboard/release', '/sandbox/check'].flatMap(
      (path): Odd[] =>
        ['content-length: 99', 'transfer-encoding: chunked'].flatMap((length): Odd[] => [
          [write('POST', path, host, `${form}\r\n${length}`, '5\r\na=b&c\r\n')],
          [write('POST', path, host, `${form}\r\n${length}`, '5\r\na=b&c\r\n'), 'before the answer'],
        ]),
    ),
    ...[...pages, `${base}/payments.csv`, `${base}/assets/style.css`].flatMap((page): Odd[] => [
      [write('GET', page, host), 'before the answer'],
      [write('GET', page, host), 'in the answer'],
    ]),
  ];
  const one = (from: readonly string[]) => fc.constantFrom(...from);
  const many = (from: readonly string[]) => fc.array(one(from), { maxLength: 3 }).map((all) => all.join(''));
  const target = fc.oneof(
    one(TARGETS),
    many(['/', 'BASE', '%', '.', '\\', '?', '#', '@', ':', 'x', '\u00e9', '/payments']),
  );
  const headers = fc.array(one(HEADERS), { maxLength: 3 }).map((all) => all.join('\r\n'));
  const generated = fc
    .tuple(
      one(METHODS),
      target,
      fc.oneof(fc.constant(host), one(HOSTS), many(['x', '@', ':', '/', '?', '[', '%', '\u00e9', '1'])),
      headers,
      fc.string({ maxLength: 9 }),
    )
    .map(
      ([method, path, odd, rest, body]): Odd => [
        write(method, path.replaceAll('BASE', base) || '/', odd, rest, body),
      ],
    );
  return [...table, ...fc.sample(generated, { numRuns: 30, seed: 62 })];
}

/** A body that its sender does not end: the sender's side is closed, in the middle of the body. */
const UNENDED = /content-length: 9|chunked/;

/** The answer; '' without one. */
function answerTo(port: number, [sent, leaves]: Odd): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      const bytes = Buffer.from(sent, 'latin1');
      socket.write(bytes, () => {
        if (leaves === 'before the answer') socket.resetAndDestroy();
        else if (UNENDED.test(sent)) socket.end();
      });
    });
    socket.on('data', (piece) => {
      received += String(piece);
      if (leaves === 'in the answer') socket.resetAndDestroy();
    });
    // A server that refuses a request without reading it resets the connection.
    socket.on('error', () => undefined).on('close', () => resolve(received));
  });
}

const folder = dirname(newFile(afterAll));
/** The process with all mounts. */
let child: ChildProcess;
let printed = '';
let addresses: Readonly<Record<string, readonly [origin: string, base: string]>>;
afterAll(() => void child?.kill('SIGKILL'));
beforeAll(async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, NODE_ENV: 'test' };
  const started = spawn(process.execPath, [PROGRAM, folder, ...MOUNTS], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (piece) => (printed += String(piece)));
  const begun = once(started.stdout, 'data');
  await Promise.race([begun, once(started, 'close')]);
  expect(printed).toMatch(/^\{/);
  addresses = JSON.parse(printed.split('\n', 1).join());
});

const BATCH = 60;
const CALLBACK = genuine('ORD-GENUINE');
const SIGNATURE = signCallback({ signingKey: ACCOUNT.signingKey, data: CALLBACK });
const BODY = JSON.stringify(CALLBACK);
const GENUINE = write(
  ...(['POST', CALLBACKS, 'shop.test'] as const),
  `content-type: application/json\r\ncontent-length:${BODY.length}\r\nhmac-signature: ${SIGNATURE}`,
  BODY,
);

// One mount after another: the first test that fails names the mount that ends the process.
test.each(MOUNTS)(
  'no odd request ends the process of a mount on %s, and a genuine callback is accepted after each batch of them',
  async (mount) => {
    const [origin = '', base = ''] = addresses[mount] ?? [];
    const { host, port } = new URL(origin);
    const requests = oddRequests(base, host);
    for (let from = 0; from < requests.length; from += BATCH) {
      const batch = requests.slice(from, from + BATCH);
      const answers = await Promise.all(batch.map((odd) => answerTo(Number(port), odd)));
      expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 ')).length).toBeGreaterThan(0);
      // With the batch in the message, since any of it may be the one.
      const known = await answerTo(Number(port), mount === 'sandbox' ? [write('GET', '/', host)] : [GENUINE]);
      expect(known.split('\r\n')[0], `${printed}\n${JSON.stringify(batch)}`).toBe('HTTP/1.1 200 OK');
    }
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(printed).not.toContain('Reported');
  },
);

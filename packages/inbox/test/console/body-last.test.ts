/**
 * Threat A63: origin, cookie and permission are checked before a form is read, and its fields are counted before they are parsed.
 * The streams count what is read of them.
 */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type ConsoleAccess, inboxConsole, nodeListener } from '../../src/console/index.ts';
import {
  BASE,
  cookiesOf,
  EVERYTHING,
  formIn,
  listen,
  newConsoleShop,
  ORIGIN,
  OWN,
  pageOf,
} from '../support/console.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const PATH = pageOf('NONE');
const ACTION = `${BASE}/act/close`;

/** A console, a browser that has opened a page of it, and the number of pieces that were read of what it sends. */
async function opened(may: ConsoleAccess['may'] = EVERYTHING) {
  const { inbox, show } = await newConsoleShop('NONE');
  let rights = EVERYTHING;
  const handle = inboxConsole(inbox, { basePath: BASE, authorize: () => ({ by: 'dana', may: rights }) });
  const page = await handle(new Request(ORIGIN + BASE + PATH));
  const own = {
    ...OWN,
    ...FORM,
    cookie: cookiesOf(page)
      .map((pair) => pair.join('='))
      .join('; '),
  };
  const { values } = formIn(await page.text(), 'close');
  rights = may;
  const send = async (path: string, headers: Record<string, string>, pieces: readonly string[]) => {
    let read = 0;
    const pull = (controller: ReadableStreamDefaultController): void => {
      const piece = pieces[read++];
      if (piece === undefined) controller.close();
      else controller.enqueue(Buffer.from(piece));
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const { status } = await handle(new Request(ORIGIN + path, init as RequestInit));
    return { status, read };
  };
  const filled = String(new URLSearchParams({ ...values, note: 'not ours' }));
  return { handle, own, values, filled, send, show };
}

const READ_ONLY: ConsoleAccess['may'] = ['read'];
type Change = (own: Record<string, string>) => Record<string, string>;
const CROSS_SITE = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
const same: Change = (own) => own;

test.each<[string, Change, ConsoleAccess['may'], string, number]>([
  ['of another site', (own) => ({ ...own, ...CROSS_SITE }), EVERYTHING, ACTION, 403],
  ['of a program, without an origin', ({ cookie = '' }) => ({ ...FORM, cookie }), EVERYTHING, ACTION, 403],
  ['without the cookie', () => ({ ...OWN, ...FORM }), EVERYTHING, ACTION, 403],
  ['of a visitor who may only read', same, READ_ONLY, ACTION, 403],
  ['on a selection, of a visitor who may only read', same, READ_ONLY, `${BASE}/acts/close`, 403],
  ['with a statement, of a visitor who may only read', same, READ_ONLY, `${BASE}/reconcile`, 403],
  ['of a visitor who may not even read', same, [], ACTION, 403],
  ['to an address without actions', same, EVERYTHING, `${BASE}/payments`, 405],
  ['with an act that does not exist', same, EVERYTHING, `${BASE}/act/constructor`, 405],
  ['with an act that is not done to many', same, EVERYTHING, `${BASE}/acts/accept`, 405],
])('nothing is read of a form %s', async (_what, change, may, path, status) => {
  const { own, filled, send } = await opened(may);
  expect(await send(path, change(own), [filled])).toEqual({ status, read: 0 });
});

test('a form of a page of the console is read, and acts (control)', async () => {
  const { own, filled, send, show } = await opened();
  expect(await send(ACTION, own, [filled])).toEqual({ status: 303, read: 2 });
  expect((await show('NONE'))?.state).toBe('resolved');
});

test('a form that is longer than any of its own is refused, and its rest is not read', async () => {
  const { own, filled, send } = await opened();
  const pieces = [filled, ...Array.from({ length: 400 }, () => 'x'.repeat(32 * 1024))];
  expect(await send(ACTION, own, pieces)).toEqual({ status: 413, read: 3 });
  expect(await send(`${BASE}/reconcile`, own, pieces)).toEqual({ status: 413, read: 193 });
});

const part = (name: string, value = '1'): string =>
  `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

test.each([
  ['', FORM['content-type'], (fields: object) => String(new URLSearchParams({ ...fields })), '&a', ''],
  [
    ' in parts',
    'multipart/form-data; boundary=x',
    (fields: object) =>
      Object.entries(fields)
        .map(([name, value]) => part(name, value))
        .join(''),
    part('a'),
    '--x--\r\n',
  ],
])('a form of 100 fields%s is read, and one of more is refused', async (_, type, write, more, end) => {
  const { own, values, send } = await opened();
  const fields = { ...values, note: 'not ours' };
  const others = 100 - Object.keys(fields).length;
  const post = (count: number) =>
    send(ACTION, { ...own, 'content-type': type }, [`${write(fields)}${more.repeat(count)}${end}`]);
  for (const count of [1000, others + 1]) expect((await post(count)).status).toBe(413);
  expect((await post(others)).status).toBe(303);
});

test('a malformed form is refused with 400', async () => {
  const { own, send } = await opened();
  const type = 'multipart/form-data; boundary=x';
  for (const [sent, contentType = type] of [
    [''],
    ['--x'],
    ['--y\r\n'],
    ['--x\r\n'],
    [part('a')],
    [part('a').repeat(3)],
    ['--x\r\ncontent-disposition: form-data\r\n\r\n1\r\n--x--'],
    ['--x\r\ncontent-disposition: form-data; name="a"\r\n--x--'],
    [`--x\r\na: ${'b'.repeat(3000)}\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--`],
    [`${part('a')}--x--`, 'multipart/form-data'],
    [`${part('a')}--x--`, `multipart/form-data; boundary=${'x'.repeat(71)}`],
    ['a=b', 'text/plain'],
    ['{}', 'application/json'],
  ] as const) {
    const headers = { ...own, 'content-type': contentType };
    expect((await send(ACTION, headers, [sent])).status, `${contentType} ${sent}`).toBe(400);
  }
});

/** Sends these bytes, and resolves with everything that was received until the server closed the connection. */
function exchange(origin: string, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => socket.write(sent));
    let received = '';
    socket.on('data', (piece) => (received += String(piece)));
    socket.on('error', reject).on('close', () => resolve(received));
  });
}

test('through the listener, a refused form is answered before its body is sent, and a cut one reports nothing', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  const admin = inboxConsole(inbox, {
    basePath: BASE,
    authorize: () => ({ by: 'd', may: EVERYTHING }),
    onError,
  });
  const listener = nodeListener(admin);
  let settled = 0;
  const origin = await listen(async (incoming, outgoing) => {
    await listener(incoming, outgoing);
    settled += 1;
  });
  const head = `POST ${ACTION} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\n`;
  const refused = await exchange(
    origin,
    `${head}origin: https://evil.example\r\ncontent-length: 900000\r\n\r\n`,
  );
  expect(refused).toMatch(/^HTTP\/1\.1 403 .*\r\nconnection: close\r\n/is);
  const own = `origin: ${origin}\r\ncookie: inbox-console=${'a'.repeat(32)}\r\ncontent-type: ${FORM['content-type']}\r\n`;
  const long = `${head}${own}content-length: 900000\r\n\r\n${'x'.repeat(70_000)}`;
  expect(await exchange(origin, long)).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
  const { port } = new URL(origin);
  const cut = connect(Number(port), '127.0.0.1', () =>
    cut.write(`${head}${own}content-length: 900\r\n\r\na=b`, () => cut.resetAndDestroy()),
  );
  await expect.poll(() => settled).toBe(3);
  expect(errors).toEqual([]);
});

/** The mistakes that newcomers make most: the output of the command and the program names the cause and the fix. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { start, until } from '@payment-service/release/toolchains';
import { expect, test } from 'vitest';
import { freePort } from '../../../vitest.shared.ts';
import { emptyFolder } from '../src/extracted.ts';
import { commandFile } from './programs/running-program.ts';

/** What a newcomer gets wrong in the program of the README. */
interface Parts {
  readonly key?: string;
  readonly handler?: string;
  readonly before?: string;
  readonly listen?: string;
  readonly path?: string;
}

const server = ({
  key = 'process.env.SIGNING_KEY',
  handler = '() => undefined',
  before = '',
  listen = "app.listen(PORT, '127.0.0.1');",
}: Parts): string => `
import { paymentCallbacks } from '@payment-service/express';
import express from 'express';
const PORT = Number(process.env.PORT);
const app = express();
${before}
app.use('/payments/callbacks', paymentCallbacks({
  signingKey: ${key},
  onCallback: ${handler},
  onRefused: ({ code, hint }) => console.warn(code, hint),
}));
${listen}
`;
const answering = (code: string): Parts => ({ before: `app.use((request, response, next) => { ${code} });` });
const ACCEPTED = /The callback was accepted\./;

const MISTAKES: Readonly<Record<string, readonly [parts: Parts, cause: RegExp, fix: RegExp]>> = {
  nothing: [{}, ACCEPTED, ACCEPTED],
  'a key with a line break': [
    { key: "process.env.SIGNING_KEY + '\\n'" },
    /signingKey contains white space/,
    /Copy the key as shown/,
  ],
  'a missing key': [{ key: 'process.env.SIGNING_KEI' }, /signingKey is missing/, /variable set\?/],
  'the key of another account': [
    { key: "'h4Jk7Lm2Np9Qr3St6Uv8Wx5Yz'" },
    /Probably the endpoint has another signing key/,
    /compare the last four characters/,
  ],
  'the secret key as the signing key': [
    { key: 'process.env.SECRET_KEY' },
    /signingKey is a SECRET key of a sandbox/,
    /Use its signing key/,
  ],
  'a body that other middleware drained': [
    answering("request.on('data', () => {}).on('end', next);"),
    /Other middleware consumed the body/,
    /Mount paymentCallbacks\(\) before it/,
  ],
  'a path that is misspelled': [
    { path: '/payment/callback' },
    /no route for POST at this path/,
    /The path is \/payment\/callback; \/payments\/callbacks is known/,
  ],
  'another port': [
    { listen: "app.listen(0, '127.0.0.1');" },
    /listens on port \d+, but the callback URL has port \d+/,
    /Use --callback-url http:\/\/127\.0\.0\.1:\d+\/payments\/callbacks/,
  ],
  'a program that does not listen': [
    { listen: '' },
    /ended before it listened on/,
    /Does it call listen\(\)/,
  ],
  'a handler that throws': [
    { handler: "() => { throw new Error('no ledger'); }" },
    /Error: no ledger[\s\S]*Your endpoint returned 429/,
    /Look at its log for the error/,
  ],
  'a guard against cross-site requests': [
    answering("response.status(403).send('invalid csrf value');"),
    /A guard against cross-site requests refuses/,
    /Exempt the callback route from it/,
  ],
  'a web app that answers every path': [
    answering("response.send('<!doctype html><h1>Shop</h1>');"),
    /The response is a web page, not that of a callback route/,
    /mount paymentCallbacks\(\) before the web app/,
  ],
};

const folder = emptyFolder('newcomers');

/** @param names which of them, by what the newcomer has. */
export function testNewcomers(names: readonly string[] = Object.keys(MISTAKES)): void {
  // Waiting processes cost little, so several run at a time.
  test.concurrent.each(names)('a newcomer who has %s reads the cause and the fix', async (name) => {
    const row = MISTAKES[name];
    if (row === undefined) throw new Error(`There is no mistake "${name}".`);
    const [{ path = '/payments/callbacks', ...parts }, cause, fix] = row;
    const cwd = join(folder, name.replaceAll(' ', '-'));
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, 'server.mjs'), server(parts));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}${path}`;
    const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const args = [
      commandFile(),
      '--port',
      '0',
      '--memory',
      '--callback-url',
      url,
      '--',
      'node',
      'server.mjs',
    ];
    const env = { PATH, PORT: String(port) };
    const running = start({ command: process.execPath, args, cwd, env, isAlone: true });
    const isEnough = (): boolean => cause.test(running.output()) && fix.test(running.output());
    await until(running, isEnough, 'it says too little', 100_000).catch(() => undefined);
    // A second signal ends the program as well, if the first one does not.
    running.child.kill();
    const last = setTimeout(() => running.child.kill(), 2000);
    await running.ended;
    clearTimeout(last);
    expect(running.output()).toMatch(cause);
    expect(running.output()).toMatch(fix);
    // A control: no other row would accept this output.
    const others = Object.values(MISTAKES).filter(([, other]) => String(other) !== String(cause));
    expect(others.filter(([, one, two]) => one.test(running.output()) && two.test(running.output()))).toEqual(
      [],
    );
  });
}

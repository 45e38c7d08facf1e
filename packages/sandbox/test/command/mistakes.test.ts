/**
 * The mistakes of a first week with payment-service-sandbox: what is typed, the words that name it, and those that say what to do,
 * all on stderr and in the words of the command.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { emptyFolder } from '../support/folders.ts';

type Mistake = readonly [
  what: string,
  typed: string,
  named: RegExp,
  fix: RegExp,
  env?: Readonly<Record<string, string>>,
];

const SANDBOX = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs', SIGNING_KEY: 'SANDBOXk' };
const FILES = {
  'comma.json': '[{"path": "/pay",}]',
  'object.json': '{"path": "/pay"}',
  'short.json': '[{"path": "/pay", "starts": "collection", "members": {}}]',
};

const MISTAKES: readonly Mistake[] = [
  [
    'a program without --',
    '--callback-url http://127.0.0.1:3000/callbacks node --watch server.mjs',
    /Put the program after --/,
    /payment-service-sandbox \[options\] -- node --watch server\.mjs/,
  ],
  [
    'only a program',
    'node server.mjs',
    /unknown command 'node'/,
    /To start a program, put it after --, as in: payment-service-sandbox -- node server\.mjs/,
  ],
  ['a mistyped verb', 'chek', /unknown command 'chek'/, /Did you mean check\?/],
  [
    'a mistyped flag',
    '--callbackurl http://127.0.0.1:3000/',
    /unknown option '--callbackurl'/,
    /Did you mean --callback-url\?/,
  ],
  [
    'an address in the place of a host',
    '--allow-host http://shop',
    /--allow-host: "http:\/\/shop" never matches/,
    /Write a host name in lower case/,
  ],
  [
    'callbacks to another machine',
    '--memory --callback-url http://shop:3000/callbacks',
    /--callback-url must be on this computer/,
    /List the host in --allow-host/,
  ],
  [
    'a callback URL without http://',
    '--memory --callback-url 127.0.0.1:3000/callbacks',
    /--callback-url must be an http or https address/,
    /such as http:\/\/127\.0\.0\.1:3000\/callbacks/,
  ],
  ['a seed that is not set', '--memory --seed=', /--seed must not be empty/, /Leave it out for random keys/],
  ['a host that is not set', '--memory --host=', /--host must not be empty/, /Leave it out for 127\.0\.0\.1/],
  [
    'a host of another machine',
    '--memory --port 0 --host 192.0.2.1',
    /192\.0\.2\.1 is not an address of this computer/,
    /Leave --host out for 127\.0\.0\.1, or use 0\.0\.0\.0/,
  ],
  [
    'endpoints with a comma too many',
    '--endpoints comma.json',
    /comma\.json must be a JSON list of endpoints/,
    /position 17/,
  ],
  [
    'one endpoint in the place of a list',
    '--endpoints object.json',
    /object\.json must be/,
    /a JSON list of endpoints/,
  ],
  [
    'endpoints that are not there',
    '--endpoints none.json',
    /none\.json could not be read/,
    /no such file or directory/,
  ],
  [
    'an endpoint without the members that it needs',
    '--endpoints short.json',
    /--endpoints\[0\]\.members: a collection needs merchant_reference/,
    /Name the member of the request that has it, or give its value in fixed/,
  ],
  [
    'a misbehaviour that is mistyped',
    '--misbehave duplicates',
    /--misbehave does not know "duplicates"/,
    /Did you mean duplicate\?/,
  ],
  [
    'NODE_ENV of production',
    '--memory',
    /does not start with NODE_ENV=production/,
    /run it with NODE_ENV=development/,
    { NODE_ENV: 'production' },
  ],
  ['trigger in another folder', 'trigger', /No keys were found/, /Run this in the folder where the sandbox/],
  [
    'trigger without a sandbox',
    'trigger --sandbox http://127.0.0.1:9',
    /No sandbox answers at http:\/\/127\.0\.0\.1:9/,
    /Start one with 'payment-service-sandbox'/,
    SANDBOX,
  ],
  [
    'trigger with the keys of a real account',
    'trigger',
    /PUBLIC_KEY of the environment is not a sandbox key, so it was not sent/,
    /Name the file of the sandbox's keys with --keys-file/,
    { ...SANDBOX, PUBLIC_KEY: 'PUBLICq7Vd2Lk9' },
  ],
  [
    'a file of keys that is not there',
    'trigger --keys-file .env',
    /There is no file \.env/,
    /'start --keys-file' writes it/,
  ],
  [
    'a recorded request that is not there',
    'explain --request refused.http',
    /refused\.http could not be read/,
    /no such file or directory/,
    SANDBOX,
  ],
];

test('mistakes on the command line are named with their fix, in the words of the command', async () => {
  const cwd = emptyFolder();
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(cwd, name), text);
  for (const [what, typed, named, fix, env] of MISTAKES) {
    const { code, stdout, stderr } = await runCommand(typed.split(' '), { cwd, ...(env && { env }) });
    expect({ what, stdout, isDone: code === 0 }).toEqual({ what, stdout: '', isDone: false });
    expect(stderr, what).toMatch(named);
    expect(stderr, what).toMatch(fix);
    // Of the flags, and not of the API.
    expect(stderr, what).not.toMatch(/\b[a-z]+[A-Z]\w*\b/);
  }
});

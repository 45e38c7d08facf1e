import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../src/repository.ts';

/** A mistake of a newcomer, as a program that makes it, and what the output must name. */
export interface Mistake {
  readonly name: string;
  readonly program: string;
  /** The callback URL, in which PORT is replaced by the port. @default http://127.0.0.1:PORT/payments/callbacks */
  readonly url?: string;
  /** Variables of the command. */
  readonly env?: Readonly<Record<string, string>>;
  /** The output names the cause; for something that is not a mistake here, it says that it works. */
  readonly cause: RegExp;
  /** The output names what to do. */
  readonly fix: RegExp;
}

interface Parts {
  readonly key?: string;
  readonly handler?: string;
  readonly before?: string;
  readonly mount?: string;
  readonly listen?: string;
  readonly after?: string;
}

const PATH = '/payments/callbacks';
const CERTIFICATE = pathToFileURL(join(root, 'packages/core/test/client/unverified-certificate.ts')).href;

/** The program of the README, with the parts that a newcomer gets wrong. */
const server = ({
  key = 'process.env.SIGNING_KEY',
  handler = '({ signed }) => console.log(signed.merchant_reference, signed.transaction_status)',
  before = '',
  mount = `app.use('${PATH}', callbacks);`,
  listen = "app.listen(PORT, '127.0.0.1');",
  after = '',
}: Parts): string => `
import http from 'node:http';
import https from 'node:https';
import zlib from 'node:zlib';
import { paymentCallbacks } from '@payment-service/express';
import express from 'express';
const PORT = Number(process.env.PORT);
const app = express();
${before}
const callbacks = paymentCallbacks({
  signingKey: ${key},
  onCallback: ${handler},
  onRefused: ({ code, hint }) => console.warn(code, hint),
});
${mount}
${listen}
${after}
`;

/** A proxy on PORT in front of the program; `change` receives the headers and the body that the proxy forwards. */
const proxied = (change: string): string => `
const inner = app.listen(0, '127.0.0.1');
http.createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece)).on('end', () => {
    const headers = { ...request.headers, 'x-forwarded-for': '127.0.0.1' };
    let body = Buffer.concat(pieces);
    ${change}
    const { port } = inner.address();
    http.request({ port, host: '127.0.0.1', method: request.method, path: request.url, headers }, (answer) => {
      response.writeHead(answer.statusCode, { ...answer.headers, via: '1.1 edge' });
      answer.pipe(response);
    }).end(body);
  });
}).listen(PORT, '127.0.0.1');
`;
const secured = `const { cert, key } = await import('${CERTIFICATE}');
https.createServer({ cert, key }, app).listen(PORT, '127.0.0.1');`;
const answering = (code: string): string => `app.use((request, response, next) => { ${code} });`;

const ACCEPTED = /The callback was accepted\./;
const works = { cause: ACCEPTED, fix: ACCEPTED };

/** How each mistake changes the program or the command, and what the output must name. */
const TABLE: Readonly<Record<string, Parts & Omit<Mistake, 'name' | 'program'>>> = {
  'a key with a line break': {
    key: "process.env.SIGNING_KEY + '\\n'",
    cause: /signingKey contains white space/,
    fix: /Copy the key as shown/,
  },
  'a key in quotation marks': {
    key: "'\"' + process.env.SIGNING_KEY + '\"'",
    cause: /a quotation mark/,
    fix: /Copy the key as shown/,
  },
  'a missing key': {
    key: 'process.env.SIGNING_KEI',
    cause: /signingKey is missing/,
    fix: /Is the environment variable set\?/,
  },
  'the key of another account': {
    key: "'h4Jk7Lm2Np9Qr3St6Uv8Wx5Yz'",
    cause: /Probably the endpoint has another signing key/,
    fix: /compare the last four characters/,
  },
  'the secret key as the signing key': {
    key: 'process.env.SECRET_KEY',
    cause: /signingKey is a SECRET key of a sandbox/,
    fix: /Use its signing key/,
  },
  'a key that was encoded in Base64': {
    key: "Buffer.from(process.env.SIGNING_KEY).toString('base64')",
    cause: /Probably the endpoint has another signing key/,
    fix: /compare the last four characters/,
  },
  'a key that was decoded from Base64': {
    key: "Buffer.from(process.env.SIGNING_KEY, 'base64').toString()",
    cause: /an invisible character/,
    fix: /Copy the key as shown/,
  },
  'parsers of forms, JSON and text before the route': {
    before: "app.use(express.urlencoded({ extended: true }), express.json(), express.text({ type: '*/*' }));",
    ...works,
  },
  'a body that other middleware drained': {
    before: answering("request.on('data', () => {}).on('end', next);"),
    cause: /Other middleware consumed the body/,
    fix: /Mount paymentCallbacks\(\) before it/,
  },
  'a path that is misspelled': {
    url: 'http://127.0.0.1:PORT/payment/callback',
    cause: /no route for POST at this path/,
    fix: /The path is \/payment\/callback; \/payments\/callbacks is known/,
  },
  'a route for GET': {
    mount: `app.get('${PATH}', callbacks);`,
    cause: /mounted at this path for GET, and not for POST/,
    fix: /app\.use\(\) or app\.post\(\)/,
  },
  'the prefix of a router twice': {
    mount: `const router = express.Router(); router.use('${PATH}', callbacks); app.use('/payments', router);`,
    cause:
      /paymentCallbacks\(\) answers at \/payments\/payments\/callbacks\. A prefix probably appears twice/,
    fix: /mount the route at \/ inside its router/,
  },
  'another port': {
    listen: "app.listen(0, '127.0.0.1');",
    cause: /listens on port \d+, but the callback URL has port \d+/,
    fix: /Use --callback-url http:\/\/127\.0\.0\.1:\d+\/payments\/callbacks/,
  },
  'a server on IPv6 only': {
    listen: "app.listen(PORT, '::1');",
    cause: /listens on \[::1\]:\d+ only/,
    fix: /Use --callback-url http:\/\/\[::1\]:\d+\/payments\/callbacks/,
  },
  'a program that does not listen': {
    listen: '',
    cause: /ended before it listened on 127\.0\.0\.1:\d+/,
    fix: /Does it call listen\(\)/,
  },
  'a crash at the start': {
    after: "throw new Error('no database');",
    cause: /Error: no database[\s\S]*ended before it listened/,
    fix: /Its output above says why/,
  },
  'a handler that throws': {
    handler: "() => { throw new Error('no ledger'); }",
    cause: /Error: no ledger[\s\S]*Your endpoint returned 429/,
    fix: /Look at its log for the error/,
  },
  'a slow handler': {
    handler: '() => new Promise((resolve) => setTimeout(resolve, 60_000))',
    cause: /The endpoint did not respond in time/,
    fix: /Store the callback, return 200, then do slow work/,
  },
  'a handler that returns early, and then crashes': {
    handler: "() => { setTimeout(() => { throw new Error('no ledger'); }, 50); }",
    cause: /had just accepted the callback, so anything that it had not stored by then is lost/,
    fix: /await it in the handler, or store the callback first/,
  },
  'a redirect to a slash at the end': {
    before: answering("request.path.endsWith('/') ? next() : response.redirect(308, request.path + '/');"),
    cause: /A trailing slash causes a redirect/,
    fix: /Set the callback URL to the final address/,
  },
  'a redirect to a login page': {
    before: answering("response.redirect('/login');"),
    cause: /redirects to a login page/,
    fix: /Exempt the callback route/,
  },
  'a guard against cross-site requests': {
    before: answering("response.status(403).send('invalid csrf value');"),
    cause: /A guard against cross-site requests refuses/,
    fix: /Exempt the callback route from it/,
  },
  'a web app that answers every path': {
    before: answering("response.send('<!doctype html><h1>Shop</h1>');"),
    cause: /The response is a web page, not that of a callback route/,
    fix: /mount paymentCallbacks\(\) before the web app/,
  },
  'a login that answers 401': {
    before: answering("response.status(401).json({ message: 'Please log in' });"),
    cause: /returned 401, but not from paymentCallbacks\(\)\.[\s\S]*mentions "log in"[\s\S]*Probably a login/,
    fix: /exempt the callback route/,
  },
  'a proxy that drops the header': {
    listen: proxied("delete headers['hmac-signature'];"),
    cause: /Probably the proxy drops the header hmac-signature/,
    fix: /configure it to pass that header through/,
  },
  'HTTP to a port that speaks TLS': {
    listen: secured,
    cause: /Port \d+ speaks TLS/,
    fix: /Use https:\/\/ in the callback URL/,
  },
  'a proxy that compresses bodies': {
    listen: proxied(
      "body = zlib.gzipSync(body); headers['content-encoding'] = 'gzip'; headers['content-length'] = body.length;",
    ),
    ...works,
  },
  'a certificate that it signed itself': {
    listen: secured,
    url: 'https://127.0.0.1:PORT/payments/callbacks',
    cause: /The certificate was refused/,
    fix: /During development, use http:\/\/ .*NODE_EXTRA_CA_CERTS/,
  },
  'NODE_ENV=production in the program': {
    before: "process.env.NODE_ENV = 'production';",
    cause: /is a sandbox key.*NODE_ENV is "production"/,
    fix: /Use the signing key of the account, or set allowSandboxKeys/,
  },
  'NODE_ENV=production for the command': {
    env: { NODE_ENV: 'production' },
    cause: /does not start with NODE_ENV=production/,
    fix: /run it with NODE_ENV=development/,
  },
};

/** The thirty mistakes that newcomers made; `pnpm --filter @payment-service/rules test` computes the score. */
export const MISTAKES: readonly Mistake[] = Object.entries(TABLE).map(([name, mistake]) => ({
  name,
  program: server(mistake),
  ...mistake,
}));

/** 2 if the output names the cause and the fix, 1 if it names one of them. */
export function scoreOf({ cause, fix }: Mistake, output: string): number {
  return Number(cause.test(output)) + Number(fix.test(output));
}

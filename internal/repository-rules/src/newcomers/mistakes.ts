import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../repository.ts';

/** A mistake of a newcomer, as a program that makes it, and what the output must name. */
export interface Mistake {
  readonly name: string;
  /** The program, if it differs from that of the README. */
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
`;

/** A proxy on PORT in front of the program; `change` gets the headers and the body that it forwards. */
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

/** The thirty mistakes that newcomers made; `pnpm --filter @payment-service/repository-rules test` computes the score. */
export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a key with a line break',
    program: server({ key: "process.env.SIGNING_KEY + '\\n'" }),
    cause: /signingKey contains white space .*line break/,
    fix: /Copy the key again/,
  },
  {
    name: 'a key in quotation marks',
    program: server({ key: "'\"' + process.env.SIGNING_KEY + '\"'" }),
    cause: /signingKey contains a quotation mark/,
    fix: /Remove it/,
  },
  {
    name: 'a missing key',
    program: server({ key: 'process.env.SIGNING_KEI' }),
    cause: /signingKey is missing/,
    fix: /Is the environment variable set\?/,
  },
  {
    name: 'the key of another account',
    program: server({ key: "'h4Jk7Lm2Np9Qr3St6Uv8Wx5Yz'" }),
    cause: /Probably the endpoint has another signing key/,
    fix: /compare the last four characters/,
  },
  {
    name: 'the secret key as the signing key',
    program: server({ key: 'process.env.SECRET_KEY' }),
    cause: /signingKey is a sandbox key, the secret key/,
    fix: /Use the one that starts with SANDBOXSIGNING/,
  },
  {
    name: 'a key that was encoded in Base64',
    program: server({ key: "Buffer.from(process.env.SIGNING_KEY).toString('base64')" }),
    cause: /signingKey is a sandbox key, in Base64/,
    fix: /Use the one that starts with SANDBOXSIGNING, unchanged/,
  },
  {
    name: 'a key that was decoded from Base64',
    program: server({ key: "Buffer.from(process.env.SIGNING_KEY, 'base64').toString()" }),
    cause: /Probably the key was decoded/,
    fix: /was decoded: use it as shown/,
  },
  {
    name: 'parsers of forms, JSON and text before the route',
    program: server({
      before:
        "app.use(express.urlencoded({ extended: true }), express.json(), express.text({ type: '*/*' }));",
    }),
    ...works,
  },
  {
    name: 'a body that other middleware drained',
    program: server({ before: answering("request.on('data', () => {}).on('end', next);") }),
    cause: /Other middleware consumed the body/,
    fix: /Mount paymentCallbacks\(\) before it/,
  },
  {
    name: 'a path that is misspelled',
    program: server({}),
    url: 'http://127.0.0.1:PORT/payment/callback',
    cause: /no route for POST at this path/,
    fix: /The path is \/payment\/callback; \/payments\/callbacks is known/,
  },
  {
    name: 'a route for GET',
    program: server({ mount: `app.get('${PATH}', callbacks);` }),
    cause: /mounted at this path for GET, and not for POST/,
    fix: /app\.use\(\) or app\.post\(\)/,
  },
  {
    name: 'the prefix of a router twice',
    program: server({
      mount: `const router = express.Router(); router.use('${PATH}', callbacks); app.use('/payments', router);`,
    }),
    cause:
      /paymentCallbacks\(\) answers at \/payments\/payments\/callbacks\. A prefix probably appears twice/,
    fix: /mount the route at \/ inside its router/,
  },
  {
    name: 'another port',
    program: server({ listen: "app.listen(0, '127.0.0.1');" }),
    cause: /listens on port \d+, but the callback URL has port \d+/,
    fix: /Use --callback-url http:\/\/127\.0\.0\.1:\d+\/payments\/callbacks/,
  },
  {
    name: 'a server on IPv6 only',
    program: server({ listen: "app.listen(PORT, '::1');" }),
    cause: /listens on \[::1\]:\d+ only/,
    fix: /Use --callback-url http:\/\/\[::1\]:\d+\/payments\/callbacks/,
  },
  {
    name: 'a program that does not listen',
    program: server({ listen: '' }),
    cause: /ended before it listened on 127\.0\.0\.1:\d+/,
    fix: /Does it call listen\(\)/,
  },
  {
    name: 'a crash at the start',
    program: `${server({})}\nthrow new Error('no database');`,
    cause: /Error: no database[\s\S]*ended before it listened/,
    fix: /Its output above says why/,
  },
  {
    name: 'a handler that throws',
    program: server({ handler: "() => { throw new Error('no ledger'); }" }),
    cause: /Error: no ledger[\s\S]*Your endpoint returned 429/,
    fix: /Look at its log for the error/,
  },
  {
    name: 'a slow handler',
    program: server({ handler: '() => new Promise((resolve) => setTimeout(resolve, 60_000))' }),
    cause: /The endpoint did not respond in time/,
    fix: /Store the callback, return 200, then do slow work/,
  },
  {
    name: 'a handler that returns early, and then crashes',
    program: server({ handler: "() => { setTimeout(() => { throw new Error('no ledger'); }, 50); }" }),
    cause: /had just accepted the callback, so anything that it had not stored by then is lost/,
    fix: /await it in the handler, or store the callback first/,
  },
  {
    name: 'a redirect to a slash at the end',
    program: server({
      before: answering("request.path.endsWith('/') ? next() : response.redirect(308, request.path + '/');"),
    }),
    cause: /A trailing slash causes a redirect/,
    fix: /Set the callback URL to the final address/,
  },
  {
    name: 'a redirect to a login page',
    program: server({ before: answering("response.redirect('/login');") }),
    cause: /redirects to a login page/,
    fix: /Exempt the callback route/,
  },
  {
    name: 'a guard against cross-site requests',
    program: server({ before: answering("response.status(403).send('invalid csrf value');") }),
    cause: /A guard against cross-site requests refuses/,
    fix: /Exempt the callback route from it/,
  },
  {
    name: 'a web app that answers every path',
    program: server({ before: answering("response.send('<!doctype html><h1>Shop</h1>');") }),
    cause: /The response is a web page, not that of a callback route/,
    fix: /mount paymentCallbacks\(\) before the web app/,
  },
  {
    name: 'a login that answers 401',
    program: server({ before: answering("response.status(401).json({ message: 'Please log in' });") }),
    cause: /returned 401, but not from paymentCallbacks\(\)\.[\s\S]*mentions "log in"[\s\S]*Probably a login/,
    fix: /exempt the callback route/,
  },
  {
    name: 'a proxy that drops the header',
    program: server({ listen: proxied("delete headers['hmac-signature'];") }),
    cause: /Probably the proxy drops the header hmac-signature/,
    fix: /configure it to pass that header through/,
  },
  {
    name: 'HTTP to a port that speaks TLS',
    program: server({ listen: secured }),
    cause: /Port \d+ speaks TLS/,
    fix: /Use https:\/\/ in the callback URL/,
  },
  {
    name: 'a proxy that compresses bodies',
    program: server({
      listen: proxied(
        "body = zlib.gzipSync(body); headers['content-encoding'] = 'gzip'; headers['content-length'] = body.length;",
      ),
    }),
    ...works,
  },
  {
    name: 'a certificate that it signed itself',
    program: server({ listen: secured }),
    url: 'https://127.0.0.1:PORT/payments/callbacks',
    cause: /The certificate was refused/,
    fix: /During development, use http:\/\/ .*NODE_EXTRA_CA_CERTS/,
  },
  {
    name: 'NODE_ENV=production in the program',
    program: server({ before: "process.env.NODE_ENV = 'production';" }),
    cause: /is a sandbox key.*NODE_ENV is "production"/,
    fix: /Use the signing key of the account, or set allowSandboxKeys/,
  },
  {
    name: 'NODE_ENV=production for the command',
    program: server({}),
    env: { NODE_ENV: 'production' },
    cause: /does not start with NODE_ENV=production/,
    fix: /run it with NODE_ENV=development/,
  },
];

/** 2 when the output names the cause and the fix, 1 when it names one of them. */
export function scoreOf({ cause, fix }: Mistake, output: string): number {
  return Number(cause.test(output)) + Number(fix.test(output));
}

import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { redirectQuery } from '@payment-service/conformance';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type CodeBlock, extract } from '../../src/extracted.ts';
import { fileAt } from '../../src/repository.ts';

/** What a block marked ```` ```ts handler ```` exports: the routes of Next.js, a Worker, or a Lambda function. */
interface Exports {
  readonly POST?: (request: Request) => Promise<Response>;
  readonly GET?: (request: Request) => Promise<Response>;
  readonly default?: { fetch(request: Request, env: object): Response | Promise<Response> };
  readonly handler?: (event: object, context: object) => Promise<{ statusCode: number }>;
}

const ADDRESS = 'https://shop.example/payments/callbacks';
const data = sampleCallback();
const forged = sampleCallback({ payload: { merchant_reference: 'ORD-1002' } });

/**
 * The problems of a block that exports a handler: a genuine callback or redirect is not accepted, or a forged one is. The
 * variable SIGNING_KEY must be set.
 */
export async function handlerProblems(
  block: CodeBlock,
  folder: string,
  signingKey: string,
): Promise<readonly string[]> {
  const exports = (await import(pathToFileURL(extract(block, folder)).href)) as Exports;
  if (exports.GET !== undefined) return redirectProblems(exports.GET, signingKey);
  const signature = signCallback({ signingKey, data });
  const problems: string[] = [];
  const database = databaseOfWorker();
  const expectStatus = async (what: string, body: object, expected: number): Promise<void> => {
    const env = { SIGNING_KEY: signingKey, DB: database };
    const status = await statusOf(exports, JSON.stringify(body), signature, env);
    if (status !== expected) problems.push(`${what} gets ${status}`);
  };
  await expectStatus('a genuine callback', data, 200);
  await expectStatus('a forged callback', forged, 401);
  const kept = database.count();
  if (exports.default !== undefined && kept !== 1) problems.push(`the table has ${kept} callbacks, not 1`);
  return problems;
}

async function statusOf(
  { POST, default: worker, handler }: Exports,
  body: string,
  signature: string,
  env: object,
): Promise<number> {
  const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
  const request = new Request(ADDRESS, { method: 'POST', headers, body });
  if (POST !== undefined) return (await POST(request)).status;
  if (worker !== undefined) return (await worker.fetch(request, env)).status;
  if (handler !== undefined) return (await handler(gatewayEvent(headers, body), {})).statusCode;
  throw new Error('it exports neither POST, nor GET, nor a default with fetch, nor handler');
}

/** Like D1, which is SQLite, with the table of the page. */
function databaseOfWorker() {
  const database = new DatabaseSync(':memory:');
  const [, table] = /`(create table callbacks .*?)`/.exec(fileAt('docs/guide/serverless.md').text) ?? [];
  if (table === undefined) throw new Error('docs/guide/serverless.md has no table for the Worker');
  database.exec(table);
  return {
    prepare: (sql: string) => ({
      bind: (...values: string[]) => ({ run: async () => database.prepare(sql).run(...values) }),
    }),
    count: () => database.prepare('select * from callbacks').all().length,
  };
}

/** A request as forwarded by the HTTP API of API Gateway, in its format 2.0, with the body in Base64. */
function gatewayEvent(headers: object, body: string): object {
  const { pathname, host } = new URL(ADDRESS);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: '',
    headers: { ...headers, host },
    requestContext: { domainName: host, http: { method: 'POST', path: pathname, sourceIp: '192.0.2.1' } },
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  };
}

async function redirectProblems(
  get: NonNullable<Exports['GET']>,
  signingKey: string,
): Promise<readonly string[]> {
  const query = redirectQuery(data, signingKey);
  const locationOf = async (signed: string): Promise<string | null> =>
    (await get(new Request(ADDRESS + signed))).headers.get('location');
  const [genuine, refused] = [
    await locationOf(query),
    await locationOf(query.replace('ORD-1001', 'ORD-1002')),
  ];
  return [
    ...(genuine?.includes('ORD-1001') ? [] : [`a redirect leads to ${genuine}`]),
    ...(refused?.includes('ORD-1002') ? [`a forged redirect leads to ${refused}`] : []),
  ];
}

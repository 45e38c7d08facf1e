import { pathToFileURL } from 'node:url';
import { redirectQuery } from '@payment-service/conformance';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type CodeBlock, extract } from '../../src/extracted.ts';

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
  const expectStatus = async (what: string, body: object, expected: number): Promise<void> => {
    const status = await statusOf(exports, JSON.stringify(body), signature, signingKey);
    if (status !== expected) problems.push(`${what} gets ${status}`);
  };
  await expectStatus('a genuine callback', data, 200);
  await expectStatus('a forged callback', forged, 401);
  return problems;
}

async function statusOf(
  { POST, default: worker, handler }: Exports,
  body: string,
  signature: string,
  signingKey: string,
): Promise<number> {
  const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
  const request = new Request(ADDRESS, { method: 'POST', headers, body });
  if (POST !== undefined) return (await POST(request)).status;
  if (worker !== undefined) return (await worker.fetch(request, { SIGNING_KEY: signingKey })).status;
  if (handler !== undefined) return (await handler(gatewayEvent(headers, body), {})).statusCode;
  throw new Error('it exports neither POST, nor GET, nor a default with fetch, nor handler');
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

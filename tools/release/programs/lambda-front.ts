import { createServer } from 'node:http';

interface Answer {
  statusCode?: number;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

/** A minimal function URL: each request becomes an event of version 2.0, as on the platform. */
export function serveLambda(handler: (event: never, context: never) => Promise<unknown>): void {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url ?? '/';
    const http = { method: request.method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: '' };
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: path,
      rawQueryString: '',
      headers: request.headers,
      requestContext: { http, domainName: 'function.example', stage: '$default' },
      body: Buffer.concat(chunks).toString('base64'),
      isBase64Encoded: true,
    };
    const answer = (await handler(event as never, {} as never)) as Answer;
    response.writeHead(answer.statusCode ?? 200, { ...answer.headers });
    response.end(Buffer.from(answer.body ?? '', answer.isBase64Encoded ? 'base64' : 'utf8'));
  });
  server.listen(Number(process.env['PORT']), '127.0.0.1');
  process.once('SIGTERM', () => server.close());
}

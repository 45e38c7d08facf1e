import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** The shortest bridge from node:http to a `Request → Response` function, on Node's own Request and Response. */
export function fetchServer(answer: (request: Request) => Response | Promise<Response>): Server {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const response = await answer(requestOf(incoming));
      // As the servers of other runtimes do: the adapter cannot see that this one shuts down.
      if (!server.listening) response.headers.set('connection', 'close');
      await send(response, outgoing);
    } catch {
      outgoing.writeHead(500).end();
    }
    incoming.resume();
  });
  return server;
}

function requestOf(incoming: IncomingMessage): Request {
  const { method = '', rawHeaders, url = '' } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const body = method === 'GET' || method === 'HEAD' ? null : streamOf(incoming);
  const { host } = incoming.headers;
  const address = new URL(url, `http://${host === undefined || host === '' ? 'localhost' : host}`);
  return new Request(address, { method, headers, body, duplex: 'half' });
}

/** Reads only on demand, and leaves the connection open when cancelled, since the response must still be sent. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const iterator = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  outgoing.statusCode = response.status;
  outgoing.setHeaders(response.headers).end(body);
}

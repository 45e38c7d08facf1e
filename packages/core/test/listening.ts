import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** The port of a server on the loopback interface, which is closed when the test ends. */
export async function listening(server: Server | HttpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

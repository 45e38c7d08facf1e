import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { onTestFinished } from 'vitest';
import { redirectQuery, SIGNING_KEY } from './http-request.ts';

/** For what only one framework does: an app on its own server, closed when the test has finished. Returns its address. */
export async function serve(app: RequestListener): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Posts a genuine callback, or one signed with another key. */
export function sendCallback(url: string, signingKey: string = SIGNING_KEY, headers = {}): Promise<Response> {
  const data = sampleCallback();
  const signed = { 'content-type': 'application/json', 'hmac-signature': signCallback({ signingKey, data }) };
  return fetch(url, { method: 'POST', headers: { ...signed, ...headers }, body: JSON.stringify(data) });
}

/** Follows a genuine redirect to this address, but not any further redirect. */
export function sendRedirect(url: string): Promise<Response> {
  return fetch(url + redirectQuery(), { redirect: 'manual' });
}

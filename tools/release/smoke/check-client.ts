import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { ApiError, createClient } from '@payment-service/core/client';
import { listening } from './listening.ts';

const bank = { bank_code: 'B1', bank_name: 'Example Bank', is_active: true };

/** The client against a server that responds as the protocol shows: success, and its one error. */
export async function checkClient(): Promise<void> {
  const server = createServer((request, response) => {
    const isGood =
      request.headers['public-key'] === 'PUBLIC' && request.url?.endsWith('?provider_code=bank_a');
    const code = isGood ? 200 : 400;
    const [status, message] = isGood
      ? ['success', 'Request completed']
      : ['error', 'provider_code is required'];
    const data = isGood ? { payout_banks: [bank] } : {};
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code, status, message, data }));
  });
  await listening(server, async (baseUrl) => {
    const client = createClient({ baseUrl, publicKey: 'PUBLIC', maxAttempts: 1 });
    const banks = await client.listPayoutBanks({ provider_code: 'bank_a' });
    assert.deepEqual(banks, [bank]);
    // One signal for many calls, as a server that stops has it: Node 20 warns of a leak from the eleventh listener on.
    const { signal } = new AbortController();
    const many = Array.from({ length: 20 }, () =>
      client.listPayoutBanks({ provider_code: 'bank_a' }, { signal }),
    );
    assert.equal((await Promise.all(many)).length, 20);
    const failed: unknown = await client.listPayoutBanks({ provider_code: 'other' }).catch((error) => error);
    assert.ok(failed instanceof ApiError);
    assert.deepEqual([failed.status, failed.serviceMessage], [400, 'provider_code is required']);
  });
}

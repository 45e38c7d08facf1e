import { expect, test } from 'vitest';
import { LONG_TEXTS } from '../../../vitest.shared.ts';
import { keysOf } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

/** Only a hang fails: Node and the sandbox accept less than this of a header or a body. */
test('threat A67: a request to the sandbox is answered, however long its path, query, headers and body are', async () => {
  const sandbox = stage.open();
  const origin = 'http://127.0.0.1:4010';
  for (const text of LONG_TEXTS.filter((_, index) => index % 3 === 0)) {
    const value = text.replace(/[^\x20-\x7e]/g, '~');
    const headers = {
      ...keysOf(sandbox),
      cookie: value,
      accept: value,
      'content-type': value,
      host: '127.0.0.1',
    };
    const encoded = encodeURIComponent(text);
    for (const path of [
      `/${encoded}`,
      `/transactions?search=${encoded}`,
      `/data/payment-providers?currency=${encoded}`,
    ])
      expect((await sandbox.fetch(`${origin}${path}`, { headers })).status).toBeLessThan(500);
    const post = { method: 'POST', headers, body: text };
    for (const path of ['/sandbox/collections', '/dashboard/collections', '/sandbox/settings'])
      expect((await sandbox.fetch(`${origin}${path}`, post)).status).toBeLessThan(500);
  }
});

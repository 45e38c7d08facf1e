/** The work of every function that reads the text of a stranger grows as the text does (threat A67). */
import { expect, test } from 'vitest';
import { LONG_TEXTS, runOrEnd } from '../../../../vitest.shared.ts';
import { readRetryAfter } from '../../src/client/call/exchange.ts';
import { readServiceMessage, rowsOf } from '../../src/client/response/envelope.ts';
import { readWallets } from '../../src/client/response/wallets.ts';
import { eligibleProviders } from '../../src/client/selection/eligible-providers.ts';
import { createScrubber } from '../../src/client/settings/scrubber.ts';
import { readClientSettings } from '../../src/client/settings/settings.ts';
import { explain } from '../../src/explain/index.ts';
import { canonicalAmount, createVerifier } from '../../src/index.ts';
import { nearName } from '../../src/options/near-name.ts';
import { checkKey } from '../../src/options/options.ts';
import { encodingOf } from '../../src/receive/request-body.ts';
import { printable, printableJson, printableLines } from '../../src/reporting/printable.ts';
import { provider } from '../client/wire-samples.ts';
import { callbackData, QUERY, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';

const verifier = createVerifier({ signingKey: SIGNING_KEY });
const settings = readClientSettings({ baseUrl: 'https://service.example', publicKey: 'pk_live_4f9c1' });
const scrubber = createScrubber(['pk_live_4f9c1/a+b=', 'aaaaaaaaaaaaaaaab', '1111111111111111']);
const bank = { ...provider, transaction_method: 'BANK', option_prefixes: [] };
const json = (member: object): string => JSON.stringify({ code: 200, status: 'ok', message: '', ...member });

/** By what it is, what reads it. A refusal is as good as a result. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a signature': (text) => verifier.verifyCallback({ signature: text, body: callbackData() }),
  'a reference': (text) =>
    verifier.verifyCallback({ signature: SIGNATURE, body: callbackData({ merchant_reference: text }) }),
  'a body': (text) => verifier.verifyCallback({ signature: SIGNATURE, body: text }),
  'a body in JSON': (text) =>
    verifier.verifyCallback({ signature: SIGNATURE, body: JSON.stringify({ [text]: text }) }),
  'a query': (text) => verifier.verifyRedirect(text),
  'a query with one name': (text) => verifier.verifyRedirect(`${QUERY}&${text}`),
  'an explained request': (text) =>
    explain(
      { headers: { 'hmac-signature': text, 'content-type': text }, body: text },
      { signingKey: SIGNING_KEY },
    ),
  'an amount': (text) => canonicalAmount(text),
  'an account': (text) =>
    ['0', '+256(0)'].map((start) => eligibleProviders([provider, bank], { account: start + text })),
  'an encoding': (text) => encodingOf(text),
  'a Retry-After': (text) => readRetryAfter(text, 0),
  'an error of the service': (text) => readServiceMessage(json({ message: text })),
  'a list of the service': (text) => rowsOf(json({ data: { [text]: [text] } }), 'payout_banks'),
  'balances of the service': (text) => readWallets(json({ data: { merchant_wallets: [text] } }), settings),
  'a page of the service': (text) => [scrubber.text(text), scrubber.snippet(text)],
  'an error of fetch': (text) => scrubber.cause(Object.assign(new Error(text), { code: text, cause: text })),
  'text for a terminal': (text) => [printable(text), printableLines(text), printableJson(text)],
  'a misspelled name': (text) => nearName(text, ['merchant_reference', 'amount', '1', 'a1']),
  'a key': (text) => checkKey('signingKey', text),
};

test.each(Object.entries(READERS))('threat A67: the work for %s grows as its length', (_what, read) => {
  for (const text of LONG_TEXTS)
    runOrEnd(() => {
      try {
        read(text);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    });
});

test('control: the time limit ends an expression that tries every way to divide a string', () => {
  const [spaces = ''] = LONG_TEXTS;
  expect(() => runOrEnd(() => /^(\S*)\s*(\d[^a-z]*?)\s*(\D*)$/.test(spaces), 50)).toThrow(
    expect.objectContaining({ code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' }),
  );
});

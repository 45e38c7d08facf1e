import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../src/errors.ts';
import { checkKey } from '../src/key-check.ts';

function refusal(key: unknown, where?: string): ConfigurationError {
  try {
    checkKey('signingKey', key, where);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('checkKey() accepted this key.');
}

describe('threat A19: checkKey() refuses unusable keys', () => {
  test.each([
    [undefined, 'is missing'],
    [null, 'is missing'],
    [42, 'must be a string'],
    [['key'], 'must be a string'],
    ['', 'is empty'],
    ['undefined', 'is the string "undefined". Is the environment variable set?'],
    ['null', 'is the string "null"'],
    ['<SIGNING_KEY>', 'placeholder'],
    ['<your key, please!>', 'placeholder'],
    ['live_<key>', 'placeholder'],
    ['\u0024{SIGNING_KEY}', 'placeholder'],
    ['live_\u0024{KEY}', 'placeholder'],
    ['{{ signing_key }}', 'placeholder'],
    ['"ABC"', 'quotation mark'],
    ["'ABC'", 'quotation mark'],
    ['A"BC', 'quotation mark'],
    ['`ABC`', 'quotation mark'],
    ['\u201cABC\u201d', 'quotation mark'],
    ['ABC\n', 'white space'],
    [' ABC', 'white space'],
    ['A\u00a0BC', 'white space'],
    ['A\u200bBC', 'invisible'],
    ['A\u2060BC', 'invisible'],
    ['\ufeffABC', 'white space'],
    ['A\u00adBC', 'invisible'],
    ['A\u3164BC', 'invisible'],
    ['ABC\0', 'control characters'],
    [Buffer.from('ABC'), 'must be a string: the key as shown'],
    [Buffer.from('H0"Wt3YrU4iO', 'base64').toString(), 'Probably the key was decoded'],
    [Buffer.from('f0e1d2c3b4a59687', 'hex').toString('latin1'), 'Probably the key was decoded'],
    ['ABC\ud800', 'invisible'],
  ])('the key %j is refused because it %s', (key, reason) => {
    const error = refusal(key);
    expect(error.option).toBe('signingKey');
    expect(error.message).toContain(reason);
  });

  test('the message says where the key is found and never shows it', () => {
    const error = refusal('"HUNTER2"', 'The dashboard shows it.');
    expect(error.message.endsWith(' The dashboard shows it.')).toBe(true);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('HUNTER2');
  });

  test.each(['EXAMPLESIGNINGKEY', 'a', 'sk_live_77+/=', 'a<b', '\u043a\u043b\u044e\u0447'])(
    'the key %s is accepted',
    (key) => {
      expect(() => checkKey('signingKey', key)).not.toThrow();
    },
  );
});

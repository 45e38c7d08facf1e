import type { Input } from './verifiers.ts';

/** Strings that have confused verifiers before. */
export const ODD: readonly string[] = [
  ...['', ' ', ':', 'a:b', 'undefined', 'null', 'true', '1001', '[object Object]', 't=1,s=2', 'ORD%3A1'],
  ...['A+B&event=x', 'Cafe\u0301', 'Caf\u00e9', '\ufffd', '\ufeffORD', '\u0000', '\u001b[2J', '"\\/\''],
  ...['\u{1f600}', '\uff1a', 'x'.repeat(300)],
];
export const TIMES: readonly string[] = [
  ...['0', 'now', '-5', '0x10', '1e3', '1700000010.5', '99999999999', '100000000000', '0001700000010'],
  ...['9'.repeat(40), '\u0661\u0667', 'NaN'],
];
/** Text that no grammar, or only a lenient one, allows between, before or inside the parts of a header. */
export const IN_HEADERS: readonly string[] = [
  ...',= \t\0\u00a0\u0085\u2028\ufefftsv0fF;"\uff11',
  ...[', ', '\r\n', '%3D', 't=', 's=', 'v=1'],
];
export const INVALID_UTF8: readonly string[] = ['c0af', 'eda080', 'f4908080', 'e282', 'c3', 'ff'];
export const NO_HASH: string = `s=${'0'.repeat(64)}`;
/** Names that a lenient reader takes for the same one. */
export const ALIKE: readonly ((name: string) => string)[] = [
  ...[' ', '\0', '[]', '[x]', '[0]', '.x'].map((more) => (name: string) => name + more),
  ...[' ', '\ufeff'].map((more) => (name: string) => more + name),
  (name) => `payload[${name}]`,
  (name) => name.replace(/^payload\[(.*)\]$/, '$1'),
  (name) => name.toUpperCase(),
  () => '__proto__',
];

/** How a channel writes, and what only it can have. */
export interface Writing {
  readonly quote: (text: string) => string;
  /** @param code the number of a character, in hexadecimal. */
  readonly escaped: (code: string) => string;
  readonly join: (name: string, value: string) => string;
  /** Values that are not strings, or that no string is written as. */
  readonly values: readonly string[];
  /** Members without a signature; the first 16 are harmless. */
  readonly extra: readonly string[];
  /** Characters that belong nowhere. */
  readonly stray: readonly string[];
}
export const WRITINGS: Readonly<Record<Input['channel'], Writing>> = {
  callback: {
    quote: (text) => JSON.stringify(text),
    escaped: (code) => `\\u${code.padStart(4, '0')}`,
    join: (name, value) => `${name}:${value}`,
    values: [
      ...['null', 'true', '1001', '0', '-0', '1.50', '12345678901234567891', '{}', '[]', '[null]', '""'],
      ...['{"toString":"x"}', '{"merchant_reference":"x"}', '"\\ud800"', '"\\udfff"', '"\\ud83d\\ude00"'],
      ...['"\\ude00\\ud83d"', '"\ufffd"', `${'{"event":['.repeat(40)}1${']}'.repeat(40)}`],
    ],
    extra: [
      ...['"id":1001', '"transaction_amount":5e2', '"request_amount":-0.50', '"x":1e400', '"":null'],
      ...['"customer_name":"A\\u0000B"', '"customer_name":"\\",\\"event\\":\\"x"', '"toString":1'],
      '"customer":{"event":"a","event":"b","payload":{"merchant_reference":"x"}}',
      '"items":[{"merchant_reference":"1"},[],{},{"event":[]}]',
      '"__proto__":{"event":"x","merchant_reference":"x"}',
      ...['"constructor":{"prototype":{"ok":true}}', '"hmac_signature":"t=1,s=2"', '"x":[[[[[[]]]]]]'],
      ...['"Event":"x"', '"event ":"x"', '"payloads":{"merchant_reference":"x"}', '"x":"\\ud800"'],
      // With these, core reads a body differently.
      ...['e', '\\"', '\\\\', '\\u0065', '\\",\\"event\\":'].map((unit) => `"long":"${unit.repeat(2050)}"`),
      ...[' ', '1234,', '"event",', '{"event":"payload"},'].map((unit) => `"long":[${unit.repeat(600)}1]`),
    ],
    stray: [
      ...'"\\{}[],: \n\t\u0000\u001f\u00a0\u2028\ufeff0-ex\'\u{1f600}',
      ...['\\u0065', '\\ud83d', '\\x41', '/**/', 'null', '"event":"x",'],
    ],
  },
  redirect: {
    quote: (text) => encodeURIComponent(text.toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']'),
    escaped: (code) => `%${code}`,
    join: (name, value) => `${name}=${value}`,
    values: ['', ...'% %ZZ %FF %C3%A9 %c3 %ED%A0%80 %00 + %2B %20 é # = &event=x'.split(' ')],
    extra: [
      ...'utm=1 flag id=7 transaction_amount=500 transaction_amount[]=5 tag[]=1 __proto__=x'.split(' '),
      ...'events=1 xevent=2 event.x=3 Event=x hmac-signature=x __proto__[event]=x payload[event]=x'.split(
        ' ',
      ),
      ...'payload[transaction_amount]=5 payload[hmac_signature]=x payload[channel]=ussd'.split(' '),
      ...[0, 120, 121, 122, 123].map((count) => 'p=1&'.repeat(count)),
    ],
    stray: [
      ...'&=%:+;?#[]é',
      ...'%ZZ %FF %C3%A9 %c3 %ED%A0%80 %00 %3A %2B %20 [] %5B0%5D &event=x'.split(' '),
    ],
  },
};

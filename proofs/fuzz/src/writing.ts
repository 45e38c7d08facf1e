/** A member of a body or a pair of a query: its name and value, plain and as written. */
export interface Member {
  readonly name: string;
  readonly value: string;
  readonly written: string;
}

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
}

export const JSON_TEXT: Writing = {
  quote: (text) => JSON.stringify(text),
  escaped: (code) => `\\u${code.padStart(4, '0')}`,
  join: (name, value) => `${name}:${value}`,
  values: [
    ...['null', 'true', '1001', '0', '-0', '1.50', '12345678901234567891', '{}', '[]', '[null]'],
    ...['{"toString":"x"}', '{"merchant_reference":"x"}', '"\\ud800"', '"\\udfff"', '"\\ud83d\\ude00"'],
    ...['"\\ude00\\ud83d"', '"\ufffd"', '""', `${'{"event":['.repeat(40)}1${']}'.repeat(40)}`],
  ],
  extra: [
    ...['"id":1001', '"transaction_amount":5e2', '"request_amount":-0.50', '"x":1e400', '"":null'],
    ...['"customer_name":"A\\u0000B"', '"customer_name":"\\",\\"event\\":\\"x"', '"customer_name":"\\ud800"'],
    '"customer":{"event":"a","event":"b","payload":{"merchant_reference":"x"}}',
    '"items":[{"merchant_reference":"1"},[],{},{"event":[]}]',
    '"__proto__":{"event":"x","merchant_reference":"x"}',
    ...['"constructor":{"prototype":{"ok":true}}', '"toString":1', '"hmac_signature":"t=1,s=2"'],
    ...['"Event":"x"', '"event ":"x"', '"payloads":{"merchant_reference":"x"}', '"x":[[[[[[]]]]]]'],
    // With these, core reads a body differently.
    ...['e', '\\"', '\\\\', '\\u0065', '\\",\\"event\\":'].map((unit) => `"long":"${unit.repeat(2050)}"`),
    ...[' ', '123456789,', '"event",', '{"event":"payload"},'].map((unit) => `"long":[${unit.repeat(600)}1]`),
  ],
};
export const QUERY_TEXT: Writing = {
  quote: (text) => encodeURIComponent(text.toWellFormed()).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  escaped: (code) => `%${code}`,
  join: (name, value) => `${name}=${value}`,
  values: ['', ...'% %ZZ %FF %C3%A9 %c3 %ED%A0%80 %00 + %2B %20 é # = &event=x'.split(' ')],
  extra: [
    ...'utm=1 flag id=7 transaction_amount=500 transaction_amount[]=5 tag[]=1 __proto__=x'.split(' '),
    ...'events=1 xevent=2 event.x=3 Event=x hmac-signature=x __proto__[event]=x payload[event]=x'.split(' '),
    ...'payload[transaction_amount]=5 payload[hmac_signature]=x payload[channel]=ussd'.split(' '),
    ...[0, 120, 121, 122, 123].map((count) => 'p=1&'.repeat(count)),
  ],
};

/** What an edit writes for the name or value of a member: the same, something like it, or something else. */
export type Rewritten = (own: Member, writing: Writing, fields: readonly string[]) => string;

/** The text with one character escaped that need not be. */
export function escapedAt(given: string, at: number, { quote, escaped }: Writing): string {
  const plain = given.replace(/[^!#-[\]-~]/g, '') || 'x';
  const place = at % plain.length;
  const code = plain.charCodeAt(place).toString(16);
  const written = escaped(at % 7 < 3 ? code.toUpperCase() : code);
  // A NUL in its place, which both channels must quote.
  return quote(`${plain.slice(0, place)}\0${plain.slice(place + 1)}`).replace(/\\u0000|%00/, written);
}

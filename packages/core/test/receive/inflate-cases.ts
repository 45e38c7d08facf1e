import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

export interface InflateCase {
  readonly name: string;
  readonly body: Uint8Array;
  readonly encoding: 'gzip' | 'deflate';
  readonly code: 'accepted' | 'body_malformed' | 'body_too_large';
}
type Row = readonly [name: string, body: Uint8Array, encoding?: InflateCase['encoding']];

/** Bodies with a content-encoding, for the JSON string of a genuine callback. */
export function inflateCases(text: string): InflateCase[] {
  const [zipped, deflated] = [gzipSync(text), deflateSync(text)];
  const padded = (length: number) => `${text}${' '.repeat(length - Buffer.byteLength(text))}`;
  const joined = (...parts: Uint8Array[]) => Buffer.concat(parts);
  const rows: Readonly<Record<InflateCase['code'], readonly Row[]>> = {
    accepted: [
      ['gzip', zipped],
      ['deflate', deflated, 'deflate'],
      ['gzip of 64 KiB', gzipSync(padded(65_536))],
      ['JSON that is declared as gzip, and was decompressed before', Buffer.from(text)],
      ['JSON that is declared as deflate, and was decompressed before', Buffer.from(text), 'deflate'],
    ],
    body_too_large: [
      ['gzip of 64 KiB and a byte', gzipSync(padded(65_537))],
      ['deflate of 64 KiB and a byte', deflateSync(padded(65_537)), 'deflate'],
      ['a gzip bomb', gzipSync(Buffer.alloc(20_000_000))],
    ],
    body_malformed: [
      ['gzip that breaks off', zipped.subarray(0, -1)],
      ['gzip without its trailer', zipped.subarray(0, -8)],
      ['gzip with a wrong checksum', withByteChanged(zipped, zipped.length - 8)],
      ['gzip with a wrong length', withByteChanged(zipped, zipped.length - 1)],
      ['gzip with corrupted data', Buffer.from(zipped).fill(0xff, 20, 60)],
      ['deflate that is declared as gzip', deflated],
      ['deflate without its zlib header', deflateRawSync(text), 'deflate'],
      ...[zipped, gzipSync(text.slice(0, 9)), gzipSync('')].flatMap((other): Row[] => [
        [`gzip before a member of ${other.length} bytes`, joined(zipped, other)],
        [`gzip after a member of ${other.length} bytes`, joined(other, zipped)],
      ]),
      ['gzip in two members', joined(gzipSync(text.slice(0, 9)), gzipSync(text.slice(9)))],
      ['gzip before a member that breaks off', joined(zipped, zipped.subarray(0, 12))],
      ...['\0', 'x', '\r\n', '\0'.repeat(512)].flatMap((tail): Row[] => [
        [`gzip before ${JSON.stringify(tail)}`, joined(zipped, Buffer.from(tail))],
        [`deflate before ${JSON.stringify(tail)}`, joined(deflated, Buffer.from(tail)), 'deflate'],
      ]),
      ['gzip before a copy of its own trailer', joined(zipped, zipped.subarray(-8))],
      ['gzip before a copy of its own length', joined(zipped, zipped.subarray(-4))],
      ['no bytes that are declared as gzip', new Uint8Array()],
    ],
  };
  return Object.entries(rows).flatMap(([code, cases]) =>
    cases.map(([name, body, encoding = 'gzip']) => ({
      ...{ name, body, encoding },
      code: code as InflateCase['code'],
    })),
  );
}

function withByteChanged(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

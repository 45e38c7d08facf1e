import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

export interface InflateCase {
  readonly name: string;
  readonly body: Uint8Array;
  readonly encoding: 'gzip' | 'deflate';
  readonly status: number;
  readonly code?: 'body_malformed' | 'body_too_large';
}

/** The cases on which all implementations of #inflate agree, for the JSON string of a genuine callback. */
export function inflateCases(text: string): InflateCase[] {
  const zipped = gzipSync(text);
  const malformed = { status: 401, code: 'body_malformed' } as const;
  const tooLarge = { status: 413, code: 'body_too_large' } as const;
  const padded = (length: number) => `${text}${' '.repeat(length - Buffer.byteLength(text))}`;
  return [
    { name: 'gzip', body: zipped, encoding: 'gzip', status: 200 },
    { name: 'deflate', body: deflateSync(text), encoding: 'deflate', status: 200 },
    { name: 'gzip of 64 KiB', body: gzipSync(padded(65_536)), encoding: 'gzip', status: 200 },
    { name: 'gzip of 64 KiB and a byte', body: gzipSync(padded(65_537)), encoding: 'gzip', ...tooLarge },
    {
      name: 'deflate of 64 KiB and a byte',
      body: deflateSync(padded(65_537)),
      encoding: 'deflate',
      ...tooLarge,
    },
    { name: 'a gzip bomb', body: gzipSync(Buffer.alloc(20_000_000)), encoding: 'gzip', ...tooLarge },
    { name: 'gzip that breaks off', body: zipped.subarray(0, -1), encoding: 'gzip', ...malformed },
    { name: 'gzip without its trailer', body: zipped.subarray(0, -8), encoding: 'gzip', ...malformed },
    {
      name: 'gzip with a wrong checksum',
      body: withByteChanged(zipped, zipped.length - 8),
      encoding: 'gzip',
      ...malformed,
    },
    {
      name: 'gzip with a wrong length',
      body: withByteChanged(zipped, zipped.length - 1),
      encoding: 'gzip',
      ...malformed,
    },
    {
      name: 'gzip with corrupted data',
      body: Buffer.from(zipped).fill(0xff, 20, 60),
      encoding: 'gzip',
      ...malformed,
    },
    { name: 'plain JSON that is declared as gzip', body: Buffer.from(text), encoding: 'gzip', ...malformed },
    { name: 'deflate that is declared as gzip', body: deflateSync(text), encoding: 'gzip', ...malformed },
    {
      name: 'deflate without its zlib header',
      body: deflateRawSync(text),
      encoding: 'deflate',
      ...malformed,
    },
    ...[zipped, gzipSync(text.slice(0, 9)), gzipSync('')].flatMap((other): InflateCase[] => [
      {
        name: `gzip before a member of ${other.length} bytes`,
        body: joined(zipped, other),
        encoding: 'gzip',
        ...malformed,
      },
      {
        name: `gzip after a member of ${other.length} bytes`,
        body: joined(other, zipped),
        encoding: 'gzip',
        ...malformed,
      },
    ]),
    {
      name: 'gzip in two members',
      body: joined(gzipSync(text.slice(0, 9)), gzipSync(text.slice(9))),
      encoding: 'gzip',
      ...malformed,
    },
    ...['\0', 'x', '\r\n'].flatMap((tail): InflateCase[] =>
      (['gzip', 'deflate'] as const).map((encoding) => ({
        name: `${encoding} before ${JSON.stringify(tail)}`,
        body: joined(encoding === 'gzip' ? zipped : deflateSync(text), Buffer.from(tail)),
        encoding,
        ...malformed,
      })),
    ),
    {
      name: 'gzip before a copy of its own length',
      body: joined(zipped, zipped.subarray(-8)),
      encoding: 'gzip',
      ...malformed,
    },
    { name: 'no bytes that are declared as gzip', body: new Uint8Array(), encoding: 'gzip', ...malformed },
  ];
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

function withByteChanged(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

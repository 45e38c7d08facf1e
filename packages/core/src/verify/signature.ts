/** The two parts of a signature value: `t=<timestamp>,s=<hmac_hash>` (protocol §5.2). */
export interface Signature {
  /** The timestamp as it came. Not signed: a report, never a defence. */
  readonly t: string;
  /** 64 lower-case hexadecimal digits. */
  readonly s: string;
}

const LONGEST = 256;
const PART = /^([^=]+)=([^=]+)$/;
const WHITE_SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const HASH = /^[0-9a-f]{64}$/;

/**
 * Reads the value of `hmac-signature` or `hmac_signature`, or answers undefined where it is malformed.
 *
 * The specification's rule (split on ',', each part on '='; take t and s), strict where a loose reading would let two
 * parsers see two values: one `t`, one `s`, no white space (so that repeated headers, which every framework joins
 * with ', ', are refused), `s` exactly 64 lower-case digits (Node's hex decoder truncates, and takes U+0100 + digit
 * for the digit). Parts with other names are ignored, so that the service can add one.
 */
export function parseSignature(value: unknown): Signature | undefined {
  if (typeof value !== 'string' || value.length > LONGEST || WHITE_SPACE_OR_CONTROL.test(value))
    return undefined;
  let t: string | undefined;
  let s: string | undefined;
  for (const part of value.split(',')) {
    const [, name, content] = PART.exec(part) ?? [];
    if (content === undefined) return undefined;
    if (name === 't') {
      if (t !== undefined) return undefined;
      t = content;
    } else if (name === 's') {
      if (s !== undefined || !HASH.test(content)) return undefined;
      s = content;
    }
  }
  return t === undefined || s === undefined ? undefined : { t, s };
}

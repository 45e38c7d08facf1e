import { MAX_FIELDS, readFields } from '@payment-service/pages';

const MAX_BYTES = 64 * 1024;
/** A statement of 2 MB as base64, and the same in a form that keeps it. */
const MAX_STATEMENT_BYTES = 6 * 1024 * 1024;

/**
 * The fields of a form, a file as base64; 413 if it is longer or has more fields than any of the console's own, and 400 if it is
 * malformed or not complete. In linear time: a platform's own parser takes seconds for what a hostile visitor sends (threat A63).
 */
export async function readForm(
  { body, headers }: Request,
  hasStatement: boolean,
): Promise<URLSearchParams | 400 | 413> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body ?? []) {
      length += piece.byteLength;
      // Leaving the loop cancels the rest of the body.
      if (length > (hasStatement ? MAX_STATEMENT_BYTES : MAX_BYTES)) return 413;
      pieces.push(piece);
    }
  } catch {
    return 400; // The visitor left while sending it.
  }
  const sent = Buffer.concat(pieces);
  const type = headers.get('content-type') ?? '';
  if (/^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)) return readFields(sent.toString()) ?? 413;
  const [, , boundary] =
    /^multipart\/form-data *; *boundary=("?)([\w'()+,./:=?-]{1,70})\1$/i.exec(type) ?? [];
  return boundary === undefined ? 400 : readParts(sent, boundary);
}

/** The part of a form before its value is its name, and the type of a file. */
const MAX_HEAD = 2048;

/** The parts of a body as browsers write them (RFC 7578). */
function readParts(sent: Buffer, boundary: string): URLSearchParams | 400 | 413 {
  const fields = new URLSearchParams();
  const separator = `\r\n--${boundary}`;
  // The first boundary has no line above it.
  const body = Buffer.concat([Buffer.from('\r\n'), sent]);
  if (body.indexOf(separator) !== 0) return 400;
  for (let start = separator.length; ; ) {
    if (body.toString('latin1', start, start + 2) === '--') return fields;
    if (fields.size === MAX_FIELDS) return 413;
    const head = body.subarray(start, start + MAX_HEAD);
    const headers = head.toString('utf8', 0, Math.max(0, head.indexOf('\r\n\r\n')));
    const [, name] = /^content-disposition: *form-data; *name="([^"]*)"/im.exec(headers) ?? [];
    const value = start + head.indexOf('\r\n\r\n') + 4;
    const end = body.indexOf(separator, start);
    if (name === undefined || end < value) return 400;
    fields.append(name, body.toString(/; *filename=/i.test(headers) ? 'base64' : 'utf8', value, end));
    start = end + separator.length;
  }
}

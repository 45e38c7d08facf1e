import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * The minimum that can verify a callback: JSON.parse, two one-shot hashes over prepared pads (HMAC, RFC 2104) and one
 * comparison. It applies no rules: neither the header's grammar nor a body's size, time and form.
 */
export function limit(signingKey: string): (body: Buffer, header: unknown) => boolean {
  const [inner, outer] = [Buffer.alloc(4096, 0x36), Buffer.alloc(96, 0x5c)];
  for (const [index, byte] of Buffer.from(signingKey).entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  const [left, right] = [Buffer.alloc(64), Buffer.alloc(64)];
  return (body, header) => {
    const { event, payload } = JSON.parse(body.toString('utf8'));
    const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
    const text = `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
    const end = 64 + inner.write(text, 64, 'utf8');
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), 64, 'binary');
    left.write(hash('sha256', outer, 'hex'), 'latin1');
    right.write(String(header).slice(-64), 'latin1');
    return timingSafeEqual(left, right);
  };
}

/** Reads events, without a copy if the body arrives in one chunk. */
export function readRaw(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  let body: Buffer | undefined;
  request.on('data', (piece: Buffer) => {
    body = body === undefined ? piece : Buffer.concat([body, piece]);
  });
  request.on('end', () => onBody(body ?? Buffer.alloc(0)));
}

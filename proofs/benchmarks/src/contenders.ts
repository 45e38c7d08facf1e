import { throws } from 'node:assert/strict';
import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';

type Verification = Pick<typeof import('@payment-service/core'), 'createVerifier'>;
type Signing = Pick<typeof import('@payment-service/core/testing'), 'sampleCallback' | 'signCallback'>;

/** The parts of core that are measured, from its tarball. */
export interface PublishedCore extends Verification, Signing {
  /** The implementation that the import condition chose: `node:crypto` or `@noble/hashes`. */
  readonly digestName: string;
}

/** Headers as a server receives them, with names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** One way from a body and its headers to an event whose fields can be used. */
export interface Contender {
  readonly name: string;
  /** The function that is called. */
  readonly call: string;
  /** The headers that the contender's own service would send with the body. */
  sign(body: Buffer): Headers;
  /**
   * The event's merchant_reference, read from it so that no contender can defer its work; throws if the signature
   * does not match.
   */
  verify(body: Buffer, headers: Headers): unknown;
}

/** The minimum work of every contender: parsing the body, and one HMAC of the same bytes. It refuses nothing. */
export function floor(signingKey: string): Contender {
  const key = createSecretKey(signingKey, 'utf8');
  return {
    name: 'floor',
    call: 'JSON.parse + one node:crypto HMAC of the body; verifies nothing',
    sign: () => ({}),
    verify(body) {
      const event: unknown = JSON.parse(body.toString('utf8'));
      createHmac('sha256', key).update(body).digest();
      return merchantReference(event);
    },
  };
}

export function paymentService(name: string, signingKey: string, core: PublishedCore): Contender {
  const verifier = core.createVerifier({ signingKey });
  return {
    name,
    call: `verifyCallback on ${core.digestName}`,
    sign: (body) => ({
      'hmac-signature': core.signCallback({ signingKey, data: JSON.parse(body.toString('utf8')) }),
    }),
    verify(body, headers) {
      const result = verifier.verifyCallback({ signature: headers['hmac-signature'], body });
      if (!result.ok) throw new Error(result.code);
      return result.signed.merchant_reference;
    },
  };
}

export function stripe(signingKey: string): Contender {
  return {
    name: 'stripe',
    call: 'constructEvent',
    sign: (body) => ({
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({
        payload: body.toString('utf8'),
        secret: signingKey,
      }),
    }),
    verify: (body, headers) =>
      merchantReference(Stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', signingKey)),
  };
}

export function standardWebhooks(signingKey: string): Contender {
  const peer = new StandardWebhook(signingKey, { format: 'raw' });
  return {
    name: 'standardwebhooks',
    call: 'verify',
    sign(body) {
      const id = 'msg_2kF0Yb7pQx9LwZt4';
      // Its tolerance of five minutes cannot be switched off.
      const at = new Date();
      return {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': peer.sign(id, at, body),
      };
    },
    verify: (body, headers) => merchantReference(peer.verify(body, headers)),
  };
}

/**
 * Proves that the timed work is verification: the contender turns a genuine body into an event, and refuses both another key's
 * signature and a changed merchant_reference.
 *
 * @param stranger the same contender with another signing key.
 * @throws {Error} naming the contender and the control that failed.
 */
export function checkControls(contender: Contender, stranger: Contender, body: Buffer): void {
  const headers = contender.sign(body);
  const [member = '', reference] = /"merchant_reference":"([^"]+)"/.exec(body.toString('utf8')) ?? [];
  if (reference === undefined || contender.verify(body, headers) !== reference)
    throw new Error(`${contender.name}: the genuine body gave no event with its reference.`);

  const foreign = stranger.sign(body);
  const another = `${contender.name}: a signature of another key was accepted.`;
  throws(() => contender.verify(body, foreign), another);

  const changed = Buffer.from(body.toString('utf8').replace(member, `${member.slice(0, -2)}X"`));
  const unsigned = `${contender.name}: a body with another merchant_reference was accepted.`;
  throws(() => contender.verify(changed, headers), unsigned);
}

/**
 * What a merchant's team writes from protocol §5.2 in an afternoon, after a body parser: correct for a genuine callback and for
 * a simple forgery. It has none of core's refusals (':' shifts, coercion, repeated names, invalid UTF-8).
 */
export function matchesByRecipe(
  signingKey: string,
  data: unknown,
  header: string,
  hmac = (text: string): string => createHmac('sha256', signingKey).update(text).digest('hex'),
): boolean {
  if (!isCallback(data)) return false;
  const { s = '' } = Object.fromEntries(header.split(',').map((part) => part.split('=')));
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = data.payload;
  const text = [
    data.event,
    merchant_reference,
    internal_reference,
    transaction_type,
    transaction_status,
  ].join(':');
  const digest = hmac(text);
  return s.length === digest.length && timingSafeEqual(Buffer.from(s), Buffer.from(digest));
}

/**
 * The same HMAC as two one-shot hashes over pads that are made once (RFC 2104): a floor may not hash more slowly than what is
 * compared with it. For keys of at most 64 bytes.
 */
export function preparedHmac(signingKey: string): (text: string) => string {
  const key = Buffer.alloc(64, signingKey.padEnd(64, '\0'));
  const [inner, outer] = [key.map((byte) => byte ^ 0x36), key.map((byte) => byte ^ 0x5c)];
  return (text) => {
    const first = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer');
    return hash('sha256', Buffer.concat([outer, first]), 'hex');
  };
}

/** A field that every handler needs, read from the object that JSON.parse returned. */
function merchantReference(data: unknown): unknown {
  return isCallback(data) ? data.payload['merchant_reference'] : undefined;
}

interface Callback {
  readonly event: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
}

function isCallback(data: unknown): data is Callback {
  return typeof data === 'object' && data !== null && 'payload' in data && data.payload instanceof Object;
}

import { createHmac, createSecretKey } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { merchantReference, verifyByRecipe } from './verify-by-recipe.ts';

type Verification = Pick<typeof import('@payment-service/core'), 'createVerifier'>;
type Signing = typeof import('@payment-service/core/testing');

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

/** Includes what core may create on the first read. */
export function paymentServiceInFull(signingKey: string, core: PublishedCore): Contender {
  const verifier = core.createVerifier({ signingKey });
  return {
    ...paymentService('core, all read', signingKey, core),
    call: 'verifyCallback, then unsigned, transitionId and timestamp',
    verify(body, headers) {
      const result = verifier.verifyCallback({ signature: headers['hmac-signature'], body });
      if (!result.ok) throw new Error(result.code);
      const { signed, unsigned, transitionId, timestamp } = result;
      if (unsigned.request_amount === undefined || transitionId === '' || timestamp.text === '')
        throw new Error('A genuine callback has lost a field.');
      return signed.merchant_reference;
    },
  };
}

export function recipe(signingKey: string, core: PublishedCore): Contender {
  return {
    ...paymentService('recipe', signingKey, core),
    call: 'the protocol by hand, without the refusals',
    verify: (body, headers) =>
      merchantReference(verifyByRecipe(signingKey, body, headers['hmac-signature'] ?? '')),
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

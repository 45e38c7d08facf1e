import { createHmac, createSecretKey } from 'node:crypto';
import { sign as signForOctokit, verify as verifyForOctokit } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
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
  /** It returns a promise, which is awaited before the next call. */
  readonly isAsync?: true;
  /** The headers that the contender's own service would send with the body. */
  sign(body: Buffer): Headers | Promise<Headers>;
  /**
   * The event's merchant_reference, read from it so that no contender can defer its work; throws, or rejects, if the signature
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
    sign: (body) => standardHeaders('webhook', peer, body),
    verify: (body, headers) => merchantReference(peer.verify(body, headers)),
  };
}

export function svix(signingKey: string): Contender {
  const peer = new SvixWebhook(signingKey, { format: 'raw' });
  return {
    name: 'svix',
    call: 'verify + JSON.parse',
    sign: (body) => standardHeaders('svix', peer, body),
    verify(body, headers) {
      peer.verify(body, headers); // It returns nothing, so the caller parses the event.
      return merchantReference(JSON.parse(body.toString('utf8')));
    },
  };
}

export function octokit(signingKey: string): Contender {
  return {
    name: 'octokit',
    call: '@octokit/webhooks-methods verify + JSON.parse, awaited',
    isAsync: true,
    sign: async (body) => ({
      'x-hub-signature-256': await signForOctokit(signingKey, body.toString('utf8')),
    }),
    async verify(body, headers) {
      const text = body.toString('utf8');
      const fits = await verifyForOctokit(signingKey, text, headers['x-hub-signature-256'] ?? '');
      if (!fits) throw new Error('The signature does not match.');
      return merchantReference(JSON.parse(text));
    },
  };
}

/** The scheme that svix and standardwebhooks share, whose tolerance of five minutes cannot be switched off. */
function standardHeaders(prefix: string, peer: StandardWebhook | SvixWebhook, body: Buffer): Headers {
  const id = 'msg_2kF0Yb7pQx9LwZt4';
  const at = new Date();
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
    [`${prefix}-signature`]: peer.sign(id, at, body),
  };
}

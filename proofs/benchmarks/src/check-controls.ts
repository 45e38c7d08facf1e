import { throws } from 'node:assert/strict';
import type { Contender } from './contenders.ts';

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

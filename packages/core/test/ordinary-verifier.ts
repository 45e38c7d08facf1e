import { createVerifier, type Verifier } from '../src/index.ts';
import { SIGNING_KEY, T } from './signed-callbacks.ts';

/** Ten seconds after the `t` of the ordinary callback, in milliseconds. */
export const NOW: number = (T + 10) * 1000;

/** The verifier that the ordinary callback and the ordinary redirect are signed for. */
export const verifier: Verifier = createVerifier({ signingKey: SIGNING_KEY, now: () => NOW });

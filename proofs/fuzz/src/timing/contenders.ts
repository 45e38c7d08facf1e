import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createVerifier } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';

/** The measured operation: one call, on an input of either class. */
export interface Contender {
  readonly name: string;
  readonly isControl: boolean;
  readonly classes: readonly [string, string];
  /** A call on a new input of a class, built in the same steps as one of the other class. It never returns true. */
  readonly makeCall: (random: SeededRandom, index: 0 | 1) => Call;
}
export type Call = () => boolean;

const DIGITS = '0123456789abcdef';
const SIGNING_KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e';

const nodeEqual = await comparisonOf('digest.node.ts');
const portableEqual = await comparisonOf('digest.portable.ts');

export const CONTENDERS: readonly Contender[] = [
  comparison('comparison on node:crypto', false, 64, nodeEqual),
  comparison('comparison, the portable one', false, 64, portableEqual),
  whole('whole verification', false, () => false),
  comparison('control: === on strings of 4,096 digits', true, 4096, (one, other) => one === other),
  comparison('control: digit by digit, until one differs', true, 64, earlyExit),
  whole('control: verification, and digit by digit', true, earlyExit),
];

type Equal = (one: string, other: string) => boolean;

/** Core does not export its comparison, and should not for a measurement, so it is loaded from its file. */
async function comparisonOf(file: string): Promise<Equal> {
  const core = dirname(createRequire(import.meta.url).resolve('@payment-service/core/package.json'));
  const { equalHex }: { readonly equalHex: Equal } = await import(
    pathToFileURL(join(core, 'src', 'verify', 'digest', file)).href
  );
  return equalHex;
}

/** In one class the first digit differs, in the other the last one. */
function comparison(name: string, isControl: boolean, length: number, equal: Equal): Contender {
  return {
    name,
    isControl,
    classes: ['the first digit differs', 'the last digit differs'],
    makeCall: (random, index) => {
      const right = flat(digits(random, 64).repeat(length / 64));
      const given = flat([changed(right, 0, random), changed(right, length - 1, random)][index] ?? '');
      return () => equal(right, given);
    },
  };
}

/** @param more runs after each verification, with the right hash and the given one. */
function whole(name: string, isControl: boolean, more: Equal): Contender {
  return {
    name,
    isControl,
    classes: ['a random hash', 'the right hash but for its last digit'],
    makeCall: (random, index) => verification(random, index, more),
  };
}

const verifier = createVerifier({ signingKey: SIGNING_KEY });

function verification(random: SeededRandom, index: 0 | 1, more: Equal): Call {
  const data = sampleCallback();
  // A new reference each time: with a single right hash, the processor would learn its digits, but never those of random ones.
  data.payload.merchant_reference = `ORD-${random.between(100_000, 999_999)}`;
  const body = JSON.stringify(data);
  const genuine = signCallback({ signingKey: SIGNING_KEY, data });
  const right = flat(genuine.slice(-64));
  const given = flat([digits(random, 64), changed(right, 63, random)][index] ?? '');
  const signature = flat(genuine.slice(0, -64) + given);
  return () => verifier.verifyCallback({ signature, body }).ok || more(right, given);
}

function earlyExit(one: string, other: string): boolean {
  for (let at = 0; at < one.length; at++) if (one.charCodeAt(at) !== other.charCodeAt(at)) return false;
  return true;
}

function digits(random: SeededRandom, length: number): string {
  return flat(Array.from({ length }, () => DIGITS[random.between(0, 15)]).join(''));
}

/** Any of the other fifteen digits, since the header's parser takes a different time for a letter than for a number. */
function changed(text: string, at: number, random: SeededRandom): string {
  const digit = (DIGITS.indexOf(text[at] ?? '') + random.between(1, 15)) % 16;
  return flat(text.slice(0, at) + DIGITS[digit] + text.slice(at + 1));
}

/** A flat string: the first comparison would have to assemble a slice or a concatenation. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

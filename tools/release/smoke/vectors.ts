import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { confirmAmount, createVerifier } from '@payment-service/core';
import { type Vector, wrongVerdicts } from './wrong-verdicts.ts';

/** Every vector of the contract, with the packed core; and what must not compile. */
const { vectors } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as { vectors: Vector[] };
assert.ok(vectors.length >= 150);
const { warn } = console;
const warnings: string[] = [];
console.warn = (warning: string) => warnings.push(warning);
assert.deepEqual(wrongVerdicts(vectors), []);
console.warn = warn;
// Some vectors have short keys, and some have other characters than letters and digits: one warning for each kind.
assert.equal(warnings.length, 2);

const redirect = createVerifier({ signingKey: 'SMOKESIGNINGKEY0' }).verifyRedirect('?');
// @ts-expect-error: a redirect, refused or not, never confirms an amount.
assert.throws(() => confirmAmount(redirect, { currency: 'UGX', amount: '500' }));
console.log('every vector');

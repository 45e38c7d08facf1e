import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as imported from '@payment-service/core';
import * as importedClient from '@payment-service/core/client';
import * as importedReceive from '@payment-service/core/receive';
import * as importedTesting from '@payment-service/core/testing';

/**
 * `import` and `require` load the same module of every entry. With two copies, `instanceof` would not recognise the errors of
 * the other.
 */
const require = createRequire(import.meta.url);
const required = require('@payment-service/core') as typeof imported;
const requiredTesting = require('@payment-service/core/testing') as typeof importedTesting;
const { paymentCallbacks } = require('@payment-service/express') as typeof import('@payment-service/express');

assert.equal(required.createVerifier, imported.createVerifier);
assert.equal(require('@payment-service/core/receive').receiveCallback, importedReceive.receiveCallback);
assert.equal(require('@payment-service/core/client').createClient, importedClient.createClient);
assert.equal(requiredTesting.signCallback, importedTesting.signCallback);

const signingKey = 'SMOKESIGNINGKEY0';
const data = importedTesting.sampleCallback();
const signature = requiredTesting.signCallback({ signingKey, data });
const callback = required.createVerifier({ signingKey }).verifyCallback({ signature, body: data });
assert.ok(callback.ok);
assert.deepEqual(imported.confirmAmount(callback, { currency: 'UGX', amount: '500' }), { ok: true });
assert.throws(() => required.createVerifier({ signingKey: '' }), imported.ConfigurationError);
assert.throws(() => paymentCallbacks({ signingKey: '' }), imported.ConfigurationError);
console.log('one instance');

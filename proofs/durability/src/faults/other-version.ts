/** Loaded before one of the merchant's programs, which then uses the packages of another checkout. */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A file whose imports lead to the packages of the other checkout. */
const parentURL = pathToFileURL(
  join(process.env['CRASH_TEST_OTHER'] ?? '', 'packages/inbox/src/index.ts'),
).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      /^@payment-service\/(core|inbox)\b/.test(specifier) ? { ...context, parentURL } : context,
    ),
});

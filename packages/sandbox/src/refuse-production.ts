import { ConfigurationError } from '@payment-service/core';

/** @throws {ConfigurationError} where NODE_ENV is `production`. */
export function refuseProduction(): void {
  if (!isProduction()) return;
  throw new ConfigurationError(
    'NODE_ENV',
    'The sandbox does not start with NODE_ENV=production: its keys are refused there. Start it in a process of its own.',
  );
}

function isProduction(): boolean {
  try {
    return globalThis.process?.env['NODE_ENV'] === 'production';
  } catch {
    // Deno without the permission to read the environment: there is no variable to go by.
    return false;
  }
}

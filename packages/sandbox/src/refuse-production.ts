import { ConfigurationError } from '@payment-service/core';
import { servingEnvironment } from '@payment-service/core/internal';

/** @throws {ConfigurationError} Unless NODE_ENV is `development`, `test` or unset: the rule of the sandbox keys (threat A27). */
export function refuseProduction(): void {
  const environment = servingEnvironment();
  if (environment === undefined) return;
  throw new ConfigurationError(
    'NODE_ENV',
    `The sandbox does not start with NODE_ENV=${environment}: its keys are refused there. Unset NODE_ENV, or run it with NODE_ENV=development, in a process that serves no customer.`,
  );
}

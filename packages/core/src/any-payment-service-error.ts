import type {
  AbortedError,
  ApiError,
  ClosedError,
  ConfigurationError,
  ConnectionError,
  InvalidInputError,
  InvalidResponseError,
  InvalidStateError,
  NotFoundError,
  StaleError,
  TimeoutError,
  UnavailableError,
} from './errors.ts';
import type { AmountMismatchError } from './money/amounts.ts';

/**
 * The union of all errors that core, the adapters and the inbox throw. Each class has its own `code`, so a `switch` narrows the
 * type. The sandbox adds one: `SandboxRefusal`.
 *
 * @example
 * function explain(error: AnyPaymentServiceError): string {
 *   switch (error.code) {
 *     case 'api_error':
 *       return `The service answered ${error.status}.`;
 *     case 'invalid_configuration':
 *       return `${error.option} is wrong: see ${error.docs}`;
 *     default:
 *       return error.message;
 *   }
 * }
 */
export type AnyPaymentServiceError =
  | AbortedError
  | AmountMismatchError
  | ApiError
  | ClosedError
  | ConfigurationError
  | ConnectionError
  | InvalidInputError
  | InvalidResponseError
  | InvalidStateError
  | NotFoundError
  | StaleError
  | TimeoutError
  | UnavailableError;

import type { OptionRule } from '@payment-service/core/internal';

/** The maximum of timers and of PostgreSQL's time settings is 2^31 - 1. */
export function wholeNumber(max: number = 2 ** 31 - 1, min = 1): OptionRule {
  const isValid = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return [isValid, `a whole number from ${min} to ${max}`];
}

export const STRING: OptionRule = [(value) => typeof value === 'string', 'a string'];
export const NAME: OptionRule = [(value) => typeof value === 'string' && value !== '', 'a non-empty string'];
export const STRINGS: OptionRule = [
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'a list of strings',
];
export const BOOLEAN: OptionRule = [(value) => typeof value === 'boolean', 'true or false'];
export const TRANSITION_ID: OptionRule = [
  (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  '64 lower-case hexadecimal digits',
];
export const SIGNAL: OptionRule = [(value) => value instanceof AbortSignal, 'an AbortSignal'];
/** One of these strings. */
export const oneOf = (values: readonly string[]): OptionRule => [
  (value) => values.some((one) => one === value),
  `one of ${values.join(', ')}`,
];

/** One of the values, or a list of them. */
export const someOf = (values: readonly string[]): OptionRule => [
  (given) => [given].flat().every((one) => values.some((value) => value === one)),
  `one of ${values.join(', ')}, or a list of them`,
];

export const DATE: OptionRule = [
  (value) => value instanceof Date && Number.isFinite(value.getTime()),
  'a valid Date',
];

import { ConfigurationError, InvalidInputError } from '@payment-service/core';
import type { OptionRule, OptionRules } from '@payment-service/core/internal';

/** Who acts, and why. Kept with the transition. The inbox does not check who calls it: the application must. */
export interface ActionNote {
  /** Who: a name or an id of your users, at most 200 characters. */
  readonly by: string;
  /** Why, at most 1000 characters. */
  readonly note: string;
}

export const NOTE_RULES: OptionRules<ActionNote> = {
  by: textOfPerson('who acts', 200),
  note: textOfPerson('why', 1000),
};

function textOfPerson(what: string, max: number): OptionRule {
  const isValid = (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= max && !value.includes('\0');
  return [isValid, `1 to ${max} characters that say ${what}`, true];
}

/**
 * Runs a check of what a person has typed: another input fixes it, unlike a mistake of the program.
 *
 * @param fields Its members are what the person typed; a misspelled member is a mistake of the program.
 * @throws {InvalidInputError} Names the field.
 */
export function asInput<T>(fields: object, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ConfigurationError && Object.hasOwn(fields, error.option))) throw error;
    throw new InvalidInputError(error.option, error.message);
  }
}

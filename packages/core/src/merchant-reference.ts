import { ConfigurationError } from './errors.ts';

/**
 * Refuses, before a transaction is started, a merchant reference whose callback could not be verified later: an empty
 * one, one with ':' (the separator of the signed fields), one that is not well-formed Unicode.
 *
 * @param options.colonIn the verifier's own option: with `'merchant_reference'`, ':' is allowed.
 * @throws {ConfigurationError} with `option: 'merchant_reference'`; the message names the rule, never the text.
 *
 * @example
 * assertMerchantReference(order.reference); // 'ORD-1001' passes, 'ORD:1001' throws
 */
export function assertMerchantReference(
  text: unknown,
  options: { readonly colonIn?: 'merchant_reference' | 'internal_reference' | undefined } = {},
): asserts text is string {
  const refuse = (why: string): never => {
    throw new ConfigurationError(
      'merchant_reference',
      `This merchant reference could not be verified later: ${why}`,
    );
  };
  if (typeof text !== 'string') refuse('it is not a text.');
  else if (text === '') refuse('it is empty. Give every order a reference of its own.');
  else if (!text.isWellFormed()) refuse('it is not well-formed Unicode (it holds half of a surrogate pair).');
  else if (text.includes(':') && options.colonIn !== 'merchant_reference') {
    refuse("it holds ':', which separates the signed fields. Leave it out, or set colonIn on both sides.");
  }
}

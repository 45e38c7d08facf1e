/**
 * The lock of one reference's expectation, as an expression: held by whoever changes the expectation, tried by whoever
 * parks a transition for want of it. The seed 3 is its own.
 *
 * @param key an expression for the key of the reference.
 */
export function referenceLock(schema: string, key: string): string {
  return `hashtextextended('${schema}.' || encode(${key}, 'hex'), 3)`;
}

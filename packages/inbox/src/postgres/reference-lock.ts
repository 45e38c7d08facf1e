/** The lock of one reference's expectation, for a statement with the reference's key as `$1`. The seed 3 is its own. */
export function referenceLock(schema: string): string {
  return `hashtextextended('${schema}.' || encode($1::bytea, 'hex'), 3)`;
}

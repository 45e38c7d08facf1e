/** Stands where personal data would: bodies hold names and phone numbers (threat A23). */
export const REDACTED = '[redacted: may hold personal data]';

/**
 * Lets Node's `util.inspect`, and with it `console.log`, show what `toJSON()` gives. The symbol is a registered one,
 * so that no import of node:util is needed.
 */
export function inspectAsJson(prototype: { toJSON(): object }): void {
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value(this: { toJSON(): object }): object {
      return this.toJSON();
    },
  });
}

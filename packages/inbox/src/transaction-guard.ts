import { ConfigurationError } from '@payment-service/core';

const LEADING = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;
const CONTROL = /^(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

/** Keeps a handler inside the transaction that it was given, and out of it afterwards. */
export class TransactionGuard {
  #isOver = false;

  /** @throws {ConfigurationError} for a statement that may not run now, or not at all. */
  readonly check = (text: unknown): void => {
    if (typeof text !== 'string') {
      throw new ConfigurationError('text', 'tx.query() takes the text of a statement, and then its values.');
    }
    if (this.#isOver) {
      throw new ConfigurationError(
        'tx',
        'The transaction of this handler is over. Wait for every statement before the handler returns.',
      );
    }
    if (CONTROL.test(text.replace(LEADING, ''))) {
      throw new ConfigurationError(
        'text',
        'The inbox commits the handler and its effects together, and rolls both back when the handler throws: leave ' +
          'BEGIN, COMMIT, ROLLBACK and savepoints to it.',
      );
    }
  };

  end(): void {
    this.#isOver = true;
  }
}

import { ConfigurationError } from '@payment-service/core';

/** Texts in quotes, comments, and what stands between them. A quote that does not end runs to the end. */
const PIECE =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s\S]/g;

/**
 * Refuses a text of several statements: node:sqlite runs the first one and says nothing about the others.
 *
 * @throws {ConfigurationError}
 */
export function refuseSeveralStatements(text: string): void {
  let isOver = false;
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ';') isOver = true;
    else if (isOver && !isBlank(piece)) {
      throw new ConfigurationError('text', 'tx.query() runs one statement at a time. Call it once for each.');
    }
  }
}

function isBlank(piece: string): boolean {
  return piece.trim() === '' || piece.startsWith('--') || piece.startsWith('/*');
}

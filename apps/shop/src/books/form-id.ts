import { randomBytes } from 'node:crypto';

/**
 * Identifies one checkout form, and is the key of the order that it places: a form that is submitted twice places one order. It
 * cannot be guessed.
 */
export function newFormId(): string {
  return randomBytes(16).toString('hex');
}

export function isFormId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

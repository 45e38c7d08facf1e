const BACKSLASH = 0x5c;

/**
 * The bytes of a bytea as the server writes it: in hexadecimal digits, or, where a role, a database or a statement has
 * set bytea_output = escape, as ASCII with `\\` for a backslash and three octal digits (`\001`) for what cannot be printed.
 */
export function readBytea(text: string): Uint8Array {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) !== BACKSLASH) {
      bytes.push(text.charCodeAt(at));
    } else if (text.charCodeAt(at + 1) === BACKSLASH) {
      bytes.push(BACKSLASH);
      at += 1;
    } else {
      bytes.push(Number.parseInt(text.slice(at + 1, at + 4), 8));
      at += 3;
    }
  }
  return Buffer.from(bytes);
}

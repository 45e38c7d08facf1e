/** Strict UTF-8, by the table of well-formed sequences (Unicode 16, table 3-7). Undefined where it is not. */
export function decodeUtf8(bytes: ArrayLike<number>): string | undefined {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++] ?? 0;
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const length = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (length === 0 || at + length > bytes.length) return undefined;
    const second = bytes[at] ?? 0;
    const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) return undefined;
    let point = first & (0x3f >> length);
    for (let left = length; left > 0; left--) {
      const next = bytes[at++] ?? 0;
      if (next >> 6 !== 2) return undefined;
      point = (point << 6) | (next & 0x3f);
    }
    text += String.fromCodePoint(point);
  }
  return text;
}

/** Whether every surrogate has its partner. */
export function isWellFormed(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (unit > 0xdbff) return false;
    const next = text.charCodeAt(++at);
    if (!(next >= 0xdc00 && next <= 0xdfff)) return false;
  }
  return true;
}

/** Form encoding, strict: a `+` is a space, and escapes have two digits and are UTF-8. Undefined where they are not. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text.includes('+') ? text.split('+').join(' ') : text;
  let decoded = '';
  let bytes: number[] = [];
  for (let at = 0; at <= text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === 0x25) {
      const byte = digit(text.charCodeAt(at + 1)) * 16 + digit(text.charCodeAt(at + 2));
      if (Number.isNaN(byte)) return undefined;
      bytes.push(byte);
      at += 3;
      continue;
    }
    if (bytes.length > 0) {
      const characters = decodeUtf8(bytes);
      if (characters === undefined) return undefined;
      decoded += characters;
      bytes = [];
    }
    if (at < text.length) decoded += unit === 0x2b ? ' ' : text[at];
    at++;
  }
  return decoded;
}

/** The value of a hexadecimal digit; NaN for another character. */
export function digit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 && unit < 0x80 ? letter - 0x57 : Number.NaN;
}

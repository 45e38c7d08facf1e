/** Strict UTF-8, by the table of well-formed sequences (Unicode 16, table 3-7). Undefined if it is ill-formed. */
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

/** Whether every surrogate is paired. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Strict form encoding: a `+` is a space, and escapes have two digits and are UTF-8. Undefined otherwise. */
export function percentDecode(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  let isUtf8 = true;
  const decoded = text.replaceAll('+', ' ').replace(/(?:%..)+/g, (escapes) => {
    const [, ...digits] = escapes.split('%');
    const characters = decodeUtf8(digits.map((two) => Number.parseInt(two, 16)));
    isUtf8 &&= characters !== undefined;
    return characters ?? '';
  });
  return isUtf8 ? decoded : undefined;
}

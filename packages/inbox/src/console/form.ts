const MAX_BYTES = 64 * 1024;

/** The fields of a form; undefined when it is longer than any of the console's own. */
export async function readForm({ body }: Request): Promise<URLSearchParams | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    // Leaving the loop cancels what is not read.
    if (length > MAX_BYTES) return undefined;
    pieces.push(piece);
  }
  return new URLSearchParams(Buffer.concat(pieces).toString());
}

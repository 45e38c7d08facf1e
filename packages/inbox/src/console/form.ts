const MAX_BYTES = 64 * 1024;
/** A statement of 2 MB as base64, and the same in a form that keeps it. */
const MAX_STATEMENT_BYTES = 6 * 1024 * 1024;

/** The fields of a form, a file as base64; 413 if it is longer than any of the console's own, and 400 if it is malformed. */
export async function readForm(
  { body, headers }: Request,
  hasStatement: boolean,
): Promise<URLSearchParams | 400 | 413> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (length > (hasStatement ? MAX_STATEMENT_BYTES : MAX_BYTES)) return 413;
    pieces.push(piece);
  }
  const fields = new URLSearchParams();
  const type = headers.get('content-type') ?? '';
  const sent = new Response(Buffer.concat(pieces), { headers: { 'content-type': type } });
  const given = await sent.formData().catch(() => undefined);
  if (given === undefined) return 400;
  for (const [name, value] of given) {
    const isFile = typeof value !== 'string';
    fields.append(name, isFile ? Buffer.from(await value.arrayBuffer()).toString('base64') : value);
  }
  return fields;
}

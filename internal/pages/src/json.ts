import { html } from 'hono/html';
import type { Markup } from './layout.ts';

const SIGNED = new Set([
  'event',
  'payload.merchant_reference',
  'payload.internal_reference',
  'payload.transaction_type',
  'payload.transaction_status',
]);
const PIECE = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** A piece of a line, and the class that colours it. */
type Part = readonly [text: string, kind?: 'key' | 'string' | 'value'];

interface Line {
  readonly depth: number;
  readonly parts: Part[];
  /** The path of the value of this line; undefined if the line has no value. */
  path: string | undefined;
  /** Its value, and where it starts in the body. */
  piece?: string;
  at: number;
}

/**
 * The body on separate lines, each piece unchanged: parsing and printing it again would change 1.0 into 1 and drop the first of
 * two equal names.
 */
function linesOf(text: string): Line[] {
  const found = [...text.matchAll(PIECE)];
  const pieces = found.map(([piece]) => piece);
  const names: string[] = [];
  let depth = 0;
  let line: Line = { depth, parts: [], path: undefined, at: 0 };
  const lines = [line];
  const next = (): void => {
    line = { depth, parts: [], path: undefined, at: 0 };
    lines.push(line);
  };
  pieces.forEach((piece, index) => {
    const follower = pieces[index + 1] ?? '';
    if (piece === '{' || piece === '[') {
      line.parts.push([piece]);
      names[depth] ??= '';
      depth += 1;
      names.length = depth;
      if (follower !== '}' && follower !== ']') next();
    } else if (piece === '}' || piece === ']') {
      depth -= 1;
      if (line.parts.length > 0 && !['{', '['].includes(pieces[index - 1] ?? '')) next();
      line.parts.push([piece]);
    } else if (piece === ',') {
      line.parts.push([piece]);
      next();
    } else if (piece === ':') {
      line.parts.push([': ']);
    } else if (follower === ':') {
      // A point within a name is not a step of the path: "payload.transaction_status" at the top is not signed.
      names[depth] = piece.slice(1, -1).replaceAll('.', '\\u002e');
      line.parts.push([piece, 'key']);
    } else {
      line.path = names.slice(1, depth + 1).join('.');
      line.piece = piece;
      line.at = found[index]?.index ?? 0;
      line.parts.push([piece, piece.startsWith('"') ? 'string' : 'value']);
    }
  });
  return lines;
}

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The lines of a body as strings: JSON on lines of its own. */
export const plainLines = (text: string): string[] =>
  isJson(text)
    ? linesOf(text).map(({ depth, parts }) => '  '.repeat(depth) + parts.map(([piece]) => piece).join(''))
    : text.split('\n');

/** The values of JSON by path, each with its position; without those that share their path. */
function valuesOf(text: string): Map<string, { at: number; piece: string }> {
  const lines = isJson(text) ? linesOf(text) : [];
  const paths = lines.map(({ path }) => path);
  const values = new Map<string, { at: number; piece: string }>();
  for (const { path, at, piece } of lines) {
    const isNamed = path !== undefined && paths.indexOf(path) === paths.lastIndexOf(path);
    if (isNamed && piece !== undefined) values.set(path, { at, piece });
  }
  return values;
}

/** The values of a body that can be edited in place, by their paths: strings without their quotes. */
export const editable = (text: string): Map<string, string> =>
  new Map(
    [...valuesOf(text)].map(([path, { piece }]) => [
      path,
      piece.startsWith('"') ? String(JSON.parse(piece)) : piece,
    ]),
  );

/** The body with replaced values; everything else stays unchanged, character by character. */
export function withValues(text: string, typed: ReadonlyMap<string, string>): string {
  const places = [...valuesOf(text)].sort(([, one], [, other]) => other.at - one.at);
  return places.reduce((edited, [path, { at, piece }]) => {
    const value = typed.get(path);
    if (value === undefined) return edited;
    const written = piece.startsWith('"') ? JSON.stringify(value) : value;
    return edited.slice(0, at) + written + edited.slice(at + piece.length);
  }, text);
}

/** The values of JSON that `shown` replaces, in their places, also those that share their path. Other bodies give undefined. */
export function masked(text: string, shown: (path: string, piece: string) => string): string | undefined {
  if (!isJson(text)) return undefined;
  return linesOf(text).reduceRight((edited, { path, at, piece }) => {
    if (path === undefined || piece === undefined) return edited;
    return edited.slice(0, at) + shown(path, piece) + edited.slice(at + piece.length);
  }, text);
}

/**
 * A readable body: JSON on separate lines, anything else unchanged.
 *
 * @param signed whether to mark the values of a callback that the signature covers (protocol §5.2).
 * @param value shows a value that can be edited, in place of the value itself.
 */
export function bodyText(
  text: string,
  {
    signed = false,
    value = (_, shown) => shown,
  }: { signed?: boolean; value?: (path: string, shown: Markup) => Markup } = {},
): Markup {
  if (text === '') return html`<p class="quiet">No body.</p>`;
  if (!isJson(text)) return html`<pre class="wire">${text}</pre>`;
  const values = valuesOf(text);
  return html`<div class="wire json">${linesOf(text).map(({ depth, parts, path = '' }) => {
    const isSigned = signed && SIGNED.has(path);
    return html`<span class="${isSigned ? 'signed' : ''}"><span><span>${'  '.repeat(depth)}</span>${parts.map(
      ([piece, kind]) => {
        if (kind === undefined) return piece;
        const shown = html`<span class="${kind}">${piece}</span>`;
        return kind !== 'key' && values.has(path) ? value(path, shown) : shown;
      },
    )}</span>${isSigned ? html`<small>signed</small>` : ''}</span>`;
  })}</div>`;
}

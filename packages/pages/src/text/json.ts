import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';

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

/** A value: its path, how it is written, and where it starts in the body. */
interface Value {
  readonly path: string;
  readonly piece: string;
  readonly at: number;
}

interface Line {
  readonly depth: number;
  readonly parts: Part[];
  /** Undefined if the line has no value. */
  value?: Value;
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
  let line: Line = { depth, parts: [] };
  const lines = [line];
  const next = (): void => {
    line = { depth, parts: [] };
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
      line.value = { path: names.slice(1, depth + 1).join('.'), piece, at: found[index]?.index ?? 0 };
      line.parts.push([piece, isString(piece) ? 'string' : 'value']);
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

/** The lines of a body as strings: JSON on separate lines. */
export const plainLines = (text: string): string[] =>
  isJson(text)
    ? linesOf(text).map(({ depth, parts }) => '  '.repeat(depth) + parts.map(([piece]) => piece).join(''))
    : text.split('\n');

/** The values of JSON, in their order. */
const valuesIn = (text: string): Value[] =>
  isJson(text) ? linesOf(text).flatMap(({ value }) => value ?? []) : [];

/** The same without those that share their path. */
function valuesOf(text: string): Value[] {
  const values = valuesIn(text);
  const paths = values.map(({ path }) => path);
  return values.filter(({ path }) => paths.indexOf(path) === paths.lastIndexOf(path));
}

/** The body with what `written` returns in place of these values; everything else stays unchanged, character by character. */
const replaced = (
  text: string,
  values: readonly Value[],
  written: (value: Value) => string | undefined,
): string =>
  values.reduceRight((edited, value) => {
    const { at, piece } = value;
    return edited.slice(0, at) + (written(value) ?? piece) + edited.slice(at + piece.length);
  }, text);

/** The values of a body that can be edited in place, by their paths: strings without their quotes. */
export const editable = (text: string): Map<string, string> =>
  new Map(
    valuesOf(text).map(({ path, piece }) => [path, isString(piece) ? String(JSON.parse(piece)) : piece]),
  );

const isString = (piece: string): boolean => piece.startsWith('"');

/** The body with replaced values. */
export const withValues = (text: string, typed: ReadonlyMap<string, string>): string =>
  replaced(text, valuesOf(text), ({ path, piece }) => {
    const value = typed.get(path);
    return value !== undefined && isString(piece) ? JSON.stringify(value) : value;
  });

/** The values of JSON that `shown` replaces, in their places, also those that share their path. Other bodies give undefined. */
export const masked = (text: string, shown: (path: string, piece: string) => string): string | undefined =>
  isJson(text) ? replaced(text, valuesIn(text), ({ path, piece }) => shown(path, piece)) : undefined;

/**
 * A readable body: JSON on separate lines, anything else unchanged.
 *
 * @param options.signed whether to mark the values of a callback that the signature covers (protocol §5.2).
 * @param options.value shows a value that can be edited, instead of the value itself.
 */
export function bodyText(
  text: string,
  options: { signed?: boolean; value?: (path: string, shown: Markup) => Markup } = {},
): Markup {
  const { signed = false, value = (_, shown) => shown } = options;
  if (text === '') return html`<p class="quiet">No body.</p>`;
  if (!isJson(text)) return html`<pre class="wire">${text}</pre>`;
  const named = new Set(valuesOf(text).map(({ path }) => path));
  return html`<div class="wire json">${linesOf(text).map(({ depth, parts, value: own }) => {
    const path = own?.path ?? '';
    const isSigned = signed && SIGNED.has(path);
    return html`<span class="${isSigned ? 'signed' : ''}"><span><span>${'  '.repeat(depth)}</span>${parts.map(
      ([piece, kind]) => {
        if (kind === undefined) return piece;
        const shown = html`<span class="${kind}">${piece}</span>`;
        return kind !== 'key' && named.has(path) ? value(path, shown) : shown;
      },
    )}</span>${isSigned ? html`<small>signed</small>` : ''}</span>`;
  })}</div>`;
}

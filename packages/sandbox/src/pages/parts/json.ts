import { html } from 'hono/html';
import { readJson } from '../../deliveries/content.ts';
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
  /** The names that lead to the value of this line; undefined where the line holds no value. */
  path: string | undefined;
}

/**
 * The text on lines of its own, each piece as it was sent: to parse and print it again would change 1.0 into 1 and drop
 * the first of two equal names.
 */
function linesOf(text: string): Line[] {
  const pieces = text.match(PIECE) ?? [];
  const names: string[] = [];
  let depth = 0;
  let line: Line = { depth, parts: [], path: undefined };
  const lines = [line];
  const next = (): void => {
    line = { depth, parts: [], path: undefined };
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
      names[depth] = piece.slice(1, -1);
      line.parts.push([piece, 'key']);
    } else {
      line.path = names.slice(1, depth + 1).join('.');
      line.parts.push([piece, piece.startsWith('"') ? 'string' : 'value']);
    }
  });
  return lines;
}

const isJson = (text: string): boolean => /^\s*[{[]/.test(text) && readJson(text) !== undefined;

/** The lines of a body as text: JSON on lines of its own. */
export const plainLines = (text: string): string[] =>
  isJson(text)
    ? linesOf(text).map(({ depth, parts }) => '  '.repeat(depth) + parts.map(([piece]) => piece).join(''))
    : text.split('\n');

/**
 * A body, readable: JSON on lines of its own, anything else as it is. With `signed`, each value of a callback says
 * whether the signature covers it (protocol §5.2).
 */
export function bodyText(text: string, { signed = false }: { signed?: boolean } = {}): Markup {
  if (text === '') return html`<p class="quiet">No body.</p>`;
  if (!isJson(text)) return html`<pre class="wire">${text}</pre>`;
  return html`<div class="wire json">${linesOf(text).map(({ depth, parts, path }) => {
    const isSigned = signed && path !== undefined && SIGNED.has(path);
    const label =
      !signed || path === undefined ? '' : html`<small>${isSigned ? 'signed' : 'not signed'}</small>`;
    return html`<span class="${isSigned ? 'signed' : ''}"><span>${'  '.repeat(depth)}${parts.map(([piece, kind]) => (kind === undefined ? piece : html`<span class="${kind}">${piece}</span>`))}</span>${label}</span>`;
  })}</div>`;
}

import type { Node } from 'oxc-parser';
import type { TextFile } from '../repository.ts';
import { children, parse } from '../syntax.ts';

const MIN_WORDS = 3;
/** Strings for programs: SQL and parts of it, routes, and a header. */
const CODE =
  /^(select|insert into|update \S+ set|delete from|create (table|schema|index)|pragma|prepare|values|begin (isolation|immediate)|left join|listen \w|(and|from|where) \S*[._(=]|[A-Z]+ \/)|^(SELECT|INSERT|DELETE FROM|CREATE TABLE|PRAGMA|READ COMMITTED)|\b(cast|current_setting|upper)\(|\b(is|not) null\b|\bon conflict\b|primary key|\w\.\w+ (=|<|>|is\b|in\b|desc\b|not\b)|'self'|HttpOnly/;
/** A tag, with the name that it gives a control. */
const TAG = /<[^>]*?(?:\b(?:aria-label|placeholder|title)="([^"]*)"[^>]*)?>/g;

/**
 * The messages of a source file, in its order, as people read them, with `…` for inserted values: strings of three words or
 * more, and shorter ones that begin like a heading or a sentence. Types and SQL are left out; in markup, only the text counts.
 */
export function messagesIn(file: TextFile): readonly string[] {
  const found = new Set<string>();

  function walk(node: Node, isMarkup = false): void {
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
    if (node.type === 'TaggedTemplateExpression') {
      walk(node.quasi, node.tag.type === 'Identifier' && node.tag.name === 'html');
      return;
    }
    const filledIn: Node[] = [];
    const text = stringOf(node, filledIn);
    const shown = isMarkup ? text?.replace(/\s+/g, ' ').replace(TAG, '\n$1\n') : text;
    for (const line of shown?.split('\n') ?? []) if (isMessage(line.trim())) found.add(line.trim());
    for (const child of text === undefined ? children(node) : filledIn) walk(child);
  }

  walk(parse(file).program);
  return [...found];
}

function isMessage(line: string): boolean {
  const words = line.split(/\s+/).filter((word) => /[\w…]/.test(word)).length;
  return (
    /\p{L}{2}/u.test(line) && !CODE.test(line) && (words >= MIN_WORDS || /^\p{Lu}.*(\s|[.!?]$)/u.test(line))
  );
}

/** The value of a literal, a template or a sum of them; undefined for anything else. */
function stringOf(node: Node, filledIn: Node[]): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') {
    filledIn.push(...node.expressions);
    return node.quasis.map(({ value }) => value.cooked ?? '').join('…');
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const parts = [node.left, node.right].map((part) => [part, stringOf(part, filledIn)] as const);
  if (parts.every(([, text]) => text === undefined)) return undefined;
  filledIn.push(...parts.filter(([, text]) => text === undefined).map(([part]) => part));
  return parts.map(([, text]) => text ?? '…').join('');
}

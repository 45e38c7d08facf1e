import type { CallExpression, NewExpression, Node } from 'oxc-parser';
import type { TextFile } from '../repository.ts';
import { children, parse } from '../syntax.ts';

/** A string that users or operators read. */
export interface Message {
  /** The error class, function or table entry that the string belongs to. */
  readonly owner: string;
  /** As the source spells it, with `{expression}` for what is filled in. */
  readonly text: string;
}

const SPEAKING_CALL = /^(console\.\w+|refuse\w*|warn\w*)$/;
const MIN_WORDS = 3;

/**
 * The messages of a source file, in its order: arguments of errors, replies, refusals and the console, and every
 * other string of three words or more. Types are left out.
 */
export function messagesIn(file: TextFile): readonly Message[] {
  const found: Message[] = [];

  function walk(node: Node, owner: string): void {
    if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
    if (node.type === 'NewExpression' || node.type === 'CallExpression') {
      walkCall(node, owner);
      return;
    }
    const text = stringOf(node, file.text);
    if (text !== undefined) {
      if (text.split(/\s+/).filter((word) => /\w/.test(word)).length >= MIN_WORDS)
        found.push({ owner, text });
      return;
    }
    const name = nameOf(node, file.text);
    // An entry keeps the name of its table: HINTS.mismatch.
    const inner = name === undefined ? owner : node.type === 'Property' ? `${owner}.${name}` : name;
    for (const child of children(node)) walk(child, inner);
  }

  function walkCall(node: NewExpression | CallExpression, owner: string): void {
    const callee = sourceOf(node.callee, file.text);
    if (/[rR]eply$/.test(callee)) {
      const text = node.arguments.map((argument) => sourceOf(argument, file.text)).join(', ');
      found.push({ owner: callee, text });
      return;
    }
    const speaks = node.type === 'NewExpression' ? callee.endsWith('Error') : SPEAKING_CALL.test(callee);
    const texts = node.arguments.map((argument) => (speaks ? stringOf(argument, file.text) : undefined));
    const spoken = texts.filter((text) => text !== undefined);
    // An error about an option names it first: its message is the last string.
    const text = spoken.at(-1);
    if (text !== undefined) found.push({ owner: [callee, ...spoken.slice(0, -1)].join(' '), text });
    walk(node.callee, owner);
    node.arguments.forEach((argument, index) => {
      if (texts[index] === undefined) walk(argument, speaks ? callee : owner);
    });
  }

  walk(parse(file).program, '');
  return found;
}

/** The value of a literal, a template or a sum of them; undefined for anything else. */
function stringOf(node: Node, source: string): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'TemplateLiteral') {
    return node.quasis
      .map(({ value }, index) => {
        const filled = node.expressions[index];
        return (value.cooked ?? '') + (filled === undefined ? '' : `{${sourceOf(filled, source)}}`);
      })
      .join('');
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [stringOf(node.left, source), stringOf(node.right, source)];
  if (left === undefined && right === undefined) return undefined;
  return (left ?? `{${sourceOf(node.left, source)}}`) + (right ?? `{${sourceOf(node.right, source)}}`);
}

function nameOf(node: Node, source: string): string | undefined {
  if (node.type === 'VariableDeclarator') return sourceOf(node.id, source).split(':')[0];
  if (node.type === 'FunctionDeclaration') return node.id?.name;
  if (node.type === 'MethodDefinition' || node.type === 'Property') return sourceOf(node.key, source);
  return undefined;
}

function sourceOf({ start, end }: Node, source: string): string {
  return source.slice(start, end).replace(/\s+/g, ' ');
}

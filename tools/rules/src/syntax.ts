import { type Comment, type Node, type Program, parseSync, visitorKeys } from 'oxc-parser';
import type { TextFile } from './repository.ts';

/** A parsed source file. Regular expressions would read strings and comments as code. */
export interface Syntax {
  readonly program: Program;
  readonly comments: readonly Comment[];
}

export function parse({ path, text }: TextFile): Syntax {
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return { program, comments };
}

/** The nodes directly below a node, in source order. */
export function children(node: Node): readonly Node[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value: unknown = Reflect.get(node, key);
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** The lines that are neither blank nor only a comment. */
export function codeLines(file: TextFile): number {
  let code = file.text;
  for (const { start, end } of parse(file).comments) {
    code = code.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, ' ') + code.slice(end);
  }
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

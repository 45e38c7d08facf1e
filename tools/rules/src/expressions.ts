import type { Node } from 'oxc-parser';
import { analyse } from 'scslre';
import type { TextFile } from './repository.ts';
import { children, parse } from './syntax.ts';

/** The problems with the regular expressions of a source file, one line each. */
export interface Judged {
  readonly count: number;
  /** Expressions whose running time grows faster than the length of the text. */
  readonly slow: readonly string[];
  /** Expressions that are composed at run time, so that their text cannot be judged. */
  readonly composed: readonly string[];
}

/** Judges every regular expression of a source file, including those that `new RegExp()` makes from a constant. */
export function judgeExpressions(file: TextFile): Judged {
  const constants = new Map<string, string>();
  const found: (readonly [source: string, flags: string])[] = [];
  const composed: string[] = [];

  function walk(node: Node): void {
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier') {
      const text = constantOf(node.init);
      if (text !== undefined) constants.set(node.id.name, text);
    }
    if (node.type === 'Literal' && 'regex' in node) found.push([node.regex.pattern, node.regex.flags]);
    if (
      (node.type === 'NewExpression' || node.type === 'CallExpression') &&
      node.callee.type === 'Identifier' &&
      node.callee.name === 'RegExp'
    ) {
      const [source, flags] = node.arguments;
      const text =
        constantOf(source) ?? (source?.type === 'Identifier' ? constants.get(source.name) : undefined);
      if (text === undefined) composed.push(file.text.slice(node.start, node.end));
      else found.push([text, constantOf(flags) ?? '']);
    }
    for (const child of children(node)) walk(child);
  }

  walk(parse(file).program);
  const slow = found.flatMap(([source, flags]) =>
    analyse({ source, flags }).reports.length === 0 ? [] : [`/${source}/${flags}`],
  );
  return { count: found.length, slow: [...new Set(slow)], composed };
}

/** The value of a string that does not depend on the running program. */
function constantOf(node: Node | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral' || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

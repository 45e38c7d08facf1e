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

export function* descendants(node: Node): Generator<Node> {
  for (const child of children(node)) {
    yield child;
    yield* descendants(child);
  }
}

/**
 * The modules that a file loads when it runs: imports, re-exports, `import()` and `new URL('./…', import.meta.url)`,
 * which starts a worker. `import type` loads nothing; `import { type A }` loads the module, as TypeScript emits it.
 */
export function loadedModules(file: TextFile): readonly string[] {
  return [...descendants(parse(file).program)].flatMap((node) => {
    if (node.type === 'ImportDeclaration') return node.importKind === 'type' ? [] : [node.source.value];
    if (node.type === 'ExportAllDeclaration' || node.type === 'ExportNamedDeclaration') {
      return node.exportKind === 'type' || node.source === null ? [] : [node.source.value];
    }
    if (node.type === 'ImportExpression') return stringIn(node.source);
    const isUrl =
      node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'URL';
    return isUrl && node.arguments[0] !== undefined
      ? stringIn(node.arguments[0]).filter((target) => target.startsWith('.'))
      : [];
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

function stringIn(node: Node): readonly string[] {
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

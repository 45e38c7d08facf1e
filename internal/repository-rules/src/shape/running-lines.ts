import { stripTypeScriptTypes } from 'node:module';

/**
 * The lines of a source file that run: none that is blank, only a comment, only types, or an import. What the formatter
 * makes of a list of imports or of overloads says nothing about how much a file decides.
 */
export function runningLines(source: string): number {
  const code = stripTypeScriptTypes(source).replace(/^import\b[^;]*;/gm, '');
  let isComment = false;
  return code.split('\n').filter((line) => {
    const text = line.trim();
    if (!isComment && text.startsWith('/*')) isComment = true;
    const counts = !isComment && text !== '' && !text.startsWith('//');
    if (text.includes('*/')) isComment = false;
    return counts;
  }).length;
}

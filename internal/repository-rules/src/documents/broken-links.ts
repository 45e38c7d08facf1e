import { posix } from 'node:path';
import { anchors, prose } from '../markdown.ts';
import type { TextFile } from '../repository.ts';

/**
 * The relative links of a document that lead nowhere, anchors included. Files move, and documents do
 * not notice.
 */
export function brokenLinks(document: TextFile, files: readonly TextFile[]): readonly string[] {
  return linkTargets(document.text).flatMap((target) => {
    if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
    const [path = '', anchor] = decodeURI(target).split('#');
    const resolved = path === '' ? document.path : posix.join(posix.dirname(document.path), path);
    return leadsSomewhere(resolved.replace(/\/$/, ''), anchor, files) ? [] : [`${document.path}: ${target}`];
  });
}

function linkTargets(markdown: string): readonly string[] {
  const text = prose(markdown).replace(/`[^`\n]*`/g, '`code`');
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const definitions = text.matchAll(/^\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/gm);
  return [...inline, ...definitions].map(([, target = '']) => target);
}

function leadsSomewhere(path: string, anchor: string | undefined, files: readonly TextFile[]): boolean {
  const isThere =
    path === '.' || files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  if (!isThere || anchor === undefined) return isThere;
  const page = files.find((file) => file.path === path || file.path === posix.join(path, 'README.md'));
  return page !== undefined && anchors(page.text).has(anchor);
}

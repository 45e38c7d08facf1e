import { posix } from 'node:path';
import { anchors, prose } from '../markdown.ts';
import type { TextFile } from '../repository.ts';

/**
 * The links of a document that lead nowhere, anchors included: relative ones, and those to this repository on the web.
 * Files move, and documents do not notice. A link to another place counts as broken: no test without a network can check
 * it, and a reader offline cannot follow it.
 *
 * @param homepage the repository on the web.
 */
export function brokenLinks(
  document: TextFile,
  files: readonly TextFile[],
  homepage: string,
): readonly string[] {
  return linkTargets(document.text).flatMap((target) => {
    const isOurs = target.startsWith(`${homepage}/`);
    if (!isOurs && /^[a-z][a-z+.-]*:/i.test(target)) return [`${document.path}: ${target} is elsewhere`];
    const own = isOurs ? target.slice(homepage.length).replace(/^\/(blob|tree|raw)\/main\//, '/') : target;
    const [path = '', anchor] = decodeURI(own).split('#');
    const resolved = path === '' ? document.path : inRepository(document.path, path);
    return leadsSomewhere(resolved.replace(/\/$/, ''), anchor, files) ? [] : [`${document.path}: ${target}`];
  });
}

function inRepository(document: string, path: string): string {
  return path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(document), path);
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

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** What the site knows about its pages. */
export interface Site {
  readonly root: string;
  readonly outDir: string;
  /** The files of the pages, from the root. */
  readonly pages: readonly string[];
  readonly pageOf: (file: string) => string;
  readonly addressOf: (from: string, link: string) => string;
  /** The navigation. */
  readonly groups: readonly Group[];
}

/**
 * For programs that read the site: every page as Markdown next to its HTML, and `llms.txt`, which lists them after the rules.
 */
export function writeMarkdown({ root, outDir, pages, pageOf, addressOf, groups }: Site): void {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  for (const file of pages) {
    const target = join(outDir, pageOf(file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      withLinks(read(file), (link) => markdownOf(addressOf(file, link))),
    );
  }
  const [, title, , summary] = /^# (.*)\n\n([\s\S]*?)\n\n([\s\S]*?)\n\n/.exec(read('README.md')) ?? [];
  const rules = /\n## The rules[\s\S]*/.exec(read('packages/core/AGENTS.md'))?.[0] ?? '';
  const lists = groups.map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](${markdownOf(item.link)})`);
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  const start = withLinks(`# ${title}\n\n> ${summary?.replaceAll('\n', ' ')}\n`, (link) =>
    markdownOf(addressOf('README.md', link)),
  );
  writeFileSync(join(outDir, 'llms.txt'), [start, rules.trim(), '', ...lists].join('\n'));
}

/** The Markdown of a page: `/docs/guide/#start` is that of the folder's index. */
function markdownOf(address: string): string {
  if (!address.startsWith('/')) return address;
  const [path = '', anchor] = address.split('#');
  const file = path.endsWith('/') ? `${path}index.md` : `${path}.md`;
  return anchor === undefined ? file : `${file}#${anchor}`;
}

/** Other links, outside code blocks. */
function withLinks(text: string, change: (link: string) => string): string {
  return text
    .split(/(^ *```[\s\S]*?^ *```$)/m)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll(/(?<=\]\()([^)\s]+)(?=\))/g, (link) => change(link)),
    )
    .join('');
}

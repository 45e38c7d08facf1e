/** The site: the repository's Markdown files in their places, and the reference that TypeDoc generates from the docstrings. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vitepress';
import { folded, type Token } from './folded.ts';

const root = resolve(import.meta.dirname, '../../..');
const GENERATED = 'tools/site/reference/';
const LANDING = 'tools/site/src/landing/landing.md';
/** Every other Markdown file of the repository is a page. */
const NO_PAGES = [
  '**/node_modules/**',
  '{**/dist,proofs,.*,.*/**,tools/!(site),apps/*/test}/**',
  '{tools/site/*,**/api/*,**/AGENTS,**/CHANGELOG}.md',
];
/** Characters of about 11,000 pixels at a width of 1280. The reference has more tables and headings than text. */
const LONG_DOCUMENT = 20_000;
const LONG_REFERENCE = 15_000;
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const { homepage }: { homepage: string } = JSON.parse(read('package.json'));

/** The address of a page is that of its file. A README is the index of its folder; at the root, the landing page is. */
function pageOf(file: string): string {
  if (file === LANDING) return 'index.md';
  return file === 'README.md'
    ? 'overview.md'
    : file.replace(GENERATED, 'reference/').replace(/\/README\.md$/, '/index.md');
}

/** The target of a document's link: to a page of the site, or else to the file in the repository. */
function addressOf(from: string, given: string): string {
  // Published READMEs link files of the repository by their address on the web.
  const link = given.startsWith(homepage) ? given.replace(/^.*\/(blob|tree)\/main\//, '/') : given;
  if (/^([a-z][a-z+.-]*:|#)/i.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const named = posix
    .join(path.startsWith('/') ? '.' : posix.dirname(from), decodeURI(path))
    .replace(/^\/|\/$/g, '');
  const file = existsSync(`${root}/${named}/README.md`) ? posix.join(named, 'README.md') : named;
  const isPage = file.endsWith('.md') && !NO_PAGES.some((glob) => posix.matchesGlob(file, glob));
  const address = isPage ? `/${pageOf(file).replace(/(index)?\.md$/, '')}` : `${homepage}/blob/main/${file}`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

const PACKAGES = ['core', 'express', 'fastify', 'koa', 'fetch', 'inbox', 'sandbox'];

const [GUIDE, HANDBOOK] = ['docs/guide/README.md', 'docs/handbook/README.md'] as const;
/** The pages that an index lists under a heading: of each line that begins with a link, its title and its address. */
const listedUnder = (heading: string, index: string = GUIDE): Record<string, string> => {
  const [, lines = ''] = read(index).split(`\n## ${heading}\n`);
  const links = lines.replace(/\n## [\s\S]*/, '').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm);
  return Object.fromEntries(
    Array.from(links, ([, title = '', link = '']) => [title, addressOf(index, link)]),
  );
};

const headings = Array.from(read(GUIDE).matchAll(/^## (.+)$/gm), ([, heading = '']) => heading);

const SIDEBAR = Object.entries({
  Start: { Overview: '/overview' },
  ...Object.fromEntries(headings.map((heading) => [heading, listedUnder(heading)])),
  Handbook: { Contents: '/docs/handbook/', ...listedUnder('Pages', HANDBOOK) },
  Packages: Object.fromEntries(PACKAGES.map((name) => [name, `/packages/${name}/`])),
  Background: {
    Threats: '/docs/threats',
    Decisions: '/docs/decisions',
    'How we know': '/docs/how-we-know',
    Benchmarks: '/docs/benchmarks',
    Messages: '/packages/messages',
    Architecture: '/ARCHITECTURE',
    Contributing: '/CONTRIBUTING',
    Releasing: '/docs/releasing',
    Security: '/SECURITY',
  },
}).map(([text, items]) => ({
  text,
  items: Object.entries<string>(items).map(([title, link]) => ({ text: title, link })),
  ...(text === 'Background' && { collapsed: true }),
}));

/** Everything that users import has a page in the reference. */
const ENTRIES = PACKAGES.flatMap((folder) =>
  Object.keys(JSON.parse(read(`packages/${folder}/package.json`)).publishConfig.exports)
    .filter((entry) => entry !== './internal' && entry !== './package.json')
    .map((entry) => posix.join(folder, entry))
    .sort()
    .map((text) => ({ text, link: `/reference/@payment-service/${text}` })),
);

/** Pages are outside this package, where Vue is not found. */
const vueOfThisPackage: Plugin = {
  name: 'vue-of-this-package',
  enforce: 'pre',
  resolveId(id, importer) {
    return /^vue(\/|$)/.test(id) && importer?.endsWith('.md') ? this.resolve(id, import.meta.filename) : null;
  },
};

/** Changes to the default theme, whose parts axe finds at fault. The build fails if a new version has no such text. */
const CHANGED: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  // A group's heading was a button around a button.
  'VPSidebarItem.vue': [
    [':role="itemRole"', ''],
    [':tabindex="item.items && 0"', ''],
    ['aria-label="toggle section"', `:aria-label="'Toggle ' + item.text" :aria-expanded="!collapsed"`],
  ],
  // The search was a button around everything, and each of its options held a link: now the links are the options.
  'VPLocalSearchBox.vue': [
    [
      `role="button"
      :aria-owns="results?.length ? 'localsearch-list' : undefined"
      aria-expanded="true"
      aria-haspopup="listbox"`,
      'role="dialog" aria-modal="true"',
    ],
    ['kbd :aria-label', 'kbd role="img" :aria-label'],
    [
      `:id="'localsearch-item-' + index"
            :aria-selected="selectedIndex === index ? 'true' : 'false'"
            role="option"`,
      'role="presentation"',
    ],
    [
      `:aria-label="[...p.titles, p.title].join(' > ')"`,
      `:id="'localsearch-item-' + index" role="option" :aria-selected="selectedIndex === index"`,
    ],
  ],
  // The page had no main part.
  'NotFound.vue': [['<div class="NotFound">', '<div class="NotFound" role="main">']],
};
const changesOfTheme: Plugin = {
  name: 'changes-of-theme',
  enforce: 'pre',
  transform(code, id) {
    const [path = '', query] = id.split('?');
    const changes = CHANGED[posix.basename(path)];
    if (query !== undefined || changes === undefined || !path.includes('/theme-default/')) return null;
    return changes.reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${path} has no text ${from}`);
      return text.replaceAll(from, to);
    }, code);
  },
};

/**
 * The words of the glossary's last column, by the page that the first one links to. No document uses them, but readers search
 * for them.
 */
const words = new Map<string, string>();
for (const [, link = '', never = ''] of read('docs/glossary.md').matchAll(
  /^\| \[[^\]]+\]\(([^)#]+)[^)]*\) \|.*\| ([^|]+) \|$/gm,
)) {
  const page = posix.join('docs', link);
  words.set(page, [words.get(page), never].filter(Boolean).join(', '));
}

/** For programs that read the site: every page as Markdown next to its HTML, and `llms.txt`, which lists them after the rules. */
function writeMarkdown(files: readonly string[], outDir: string): void {
  for (const file of files.filter((one) => one !== LANDING)) {
    const target = join(outDir, pageOf(file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, withMarkdownLinks(read(file), file));
  }
  const [, title, summary] = /^# (.*)\n\n([\s\S]*?)\n\n/.exec(read('README.md')) ?? [];
  const start = withMarkdownLinks(`# ${title}\n\n> ${summary?.replaceAll('\n', ' ')}\n`, 'README.md');
  const rules = /\n## The rules[\s\S]*/.exec(read('tools/release/published/AGENTS.md'))?.[0] ?? '';
  const lists = SIDEBAR.map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](${markdownOf(item.link)})`);
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  writeFileSync(join(outDir, 'llms.txt'), [start, rules.trim(), '', ...lists].join('\n'));
}

/** The Markdown of a page: `/docs/guide/#start` is that of the folder's index. */
function markdownOf(address: string): string {
  if (!address.startsWith('/')) return address;
  return address.replace(/\/(?=#|$)/, '/index').replace(/(?=#|$)/, '.md');
}

/** The text of a page with links to other pages' Markdown, outside code blocks. */
function withMarkdownLinks(text: string, file: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$|(?<=\]\()[^)\s]+(?=\))/gm, (found) =>
    found.trimStart().startsWith('```') ? found : markdownOf(addressOf(file, found)),
  );
}

const config: UserConfig = defineConfig({
  title: 'Payment service SDK',
  description: 'Verified callbacks and redirects of the payment service, for TypeScript',
  srcDir: root,
  outDir: 'dist',
  srcExclude: NO_PAGES,
  rewrites: pageOf,
  buildEnd: ({ pages, outDir }) => writeMarkdown(pages, outDir),
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    // The default themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // The anchors of code hosts, so that a link works in the repository and here.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
          .replaceAll(' ', '-'),
    },
    config(markdown) {
      const { rules } = markdown.renderer;
      const open = rules['link_open'];
      rules['link_open'] = (parts, index, options, env, self) => {
        const from = posix.relative(root, env.realPath ?? env.path);
        const given = parts[index]?.attrGet('href') ?? '#';
        parts[index]?.attrSet('href', addressOf(from, given));
        return open?.(parts, index, options, env, self) ?? '';
      };
      // An indented block too has its language, its style and a place in the order of the keyboard.
      rules['code_block'] = (...given) => rules['fence']?.(...given) ?? '';
      const image = rules['image'];
      rules['image'] = (parts, index, options, env, self) => {
        const html = image?.(parts, index, options, env, self) ?? '';
        const source = parts[index]?.attrGet('src') ?? '';
        return source.endsWith('.png') ? `<a href="${source}" target="_blank">${html}</a>` : html;
      };
      markdown.core.ruler.push('empty-headers', ({ tokens }) => {
        for (const [index, { type }] of tokens.entries())
          if (type === 'th_open' && tokens[index + 1]?.content === '')
            for (const cell of [tokens[index], tokens[index + 2]]) if (cell) cell.tag = 'td';
      });
      markdown.core.ruler.push('long-pages', (state) => {
        const path = state.env.realPath ?? state.env.path;
        if (path === undefined) return; // A title.
        const file = posix.relative(root, path);
        if (state.src.length < (file.startsWith(GENERATED) ? LONG_REFERENCE : LONG_DOCUMENT)) return;
        const html = (content: string): Token =>
          Object.assign(new state.Token('html_block', '', 0), { content });
        state.tokens = folded(state.tokens, html, markdown.utils.escapeHtml);
      });
    },
  },
  // A picture's link leads to its file, as the picture does.
  vue: { template: { transformAssetUrls: { includeAbsolute: false, tags: { img: ['src'], a: ['href'] } } } },
  // The index of the search is one chunk, loaded when a reader searches.
  vite: { plugins: [vueOfThisPackage, changesOfTheme], build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // Other names for a concept lead to the page that the glossary gives for it.
        _render: (source, env, markdown) => {
          const { highlight } = markdown.options;
          // The index contains only words: highlighting costs a tenth of the build.
          markdown.options.highlight = null;
          const html = markdown.render(source, env);
          markdown.options.highlight = highlight;
          return html.replace('</h1>', `</h1><p>${words.get(env.relativePath) ?? ''}</p>`);
        },
      },
    },
    notFound: {
      title: 'There is no such page',
      quote: 'It may have moved. The search and the navigation above lead to every page.',
      linkText: 'Go to the start page',
      linkLabel: 'Go to the start page',
    },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: 'Guide', link: '/docs/guide/', activeMatch: '^/docs/guide/' },
      { text: 'Packages', link: '/packages/core/', activeMatch: '^/packages/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
    ],
    sidebar: { '/': SIDEBAR, '/reference/': [{ text: 'Reference', items: ENTRIES }] },
  },
});
export default config;

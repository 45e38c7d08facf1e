/** The site: the repository's Markdown files in their places, and the reference that TypeDoc generates from the docstrings. */
import { existsSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { defineConfig, type Plugin, type UserConfig } from 'vitepress';
import { writeMarkdown } from './markdown.ts';
import { otherWords } from './other-words.ts';

const root = resolve(import.meta.dirname, '../../..');
const GENERATED = 'tools/site/reference/';
const LANDING = 'tools/site/src/landing/landing.md';
const PAGES = ['*.md', '{docs,packages,apps,openapi}/**/*.md', `${GENERATED}**/*.md`];
const NO_PAGES = ['**/node_modules/**', '**/dist/**', '**/api/*.md', '**/{AGENTS,CHANGELOG}.md'];
interface Manifest {
  readonly homepage?: string;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${root}/${folder}/package.json`, 'utf8'));
const { homepage = 'https://repository.example' } = manifestIn('.');
/** Published READMEs link files of the repository by their address on the web. */
const ON_THE_WEB = ['blob', 'tree'].map((kind) => `${homepage}/${kind}/main/`);

/** The address of a page is that of its file. A README is the index of its folder; at the root, the landing page is. */
function pageOf(file: string): string {
  if (file === LANDING) return 'index.md';
  return file === 'README.md'
    ? 'overview.md'
    : file.replace(GENERATED, 'reference/').replace(/\/README\.md$/, '/index.md');
}

/** The target of a document's link: to a page of the site, or else to the file in the repository. */
function addressOf(from: string, given: string): string {
  const link = ON_THE_WEB.reduce((address, prefix) => address.replace(prefix, '/'), given);
  if (/^([a-z][a-z+.-]*:|#)/i.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const named = posix
    .join(path.startsWith('/') ? '.' : posix.dirname(from), decodeURI(path))
    .replace(/^\/|\/$/g, '');
  const file = existsSync(`${root}/${named}/README.md`) ? posix.join(named, 'README.md') : named;
  const isPage = [PAGES, NO_PAGES].map((globs) => globs.some((glob) => posix.matchesGlob(file, glob)));
  const address =
    isPage[0] && !isPage[1]
      ? `/${pageOf(file).replace(/(index)?\.md$/, '')}`
      : `${homepage}/blob/main/${file}`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

const page = (text: string, name: string) => ({ text, link: `/docs/${name}` });
const guide = (text: string, name: string) => page(text, `guide/${name}`);
const PACKAGES = ['core', 'express', 'fastify', 'koa', 'fetch', 'inbox', 'sandbox'];

const SIDEBAR = [
  {
    text: 'Start',
    items: [
      { text: 'Overview', link: '/overview' },
      { text: 'Express', link: '/packages/express/' },
      { text: 'Fastify', link: '/packages/fastify/' },
      { text: 'Koa', link: '/packages/koa/' },
      { text: 'Hono, Bun, Deno, Workers', link: '/packages/fetch/' },
      guide('Next.js', 'nextjs'),
      guide('NestJS', 'nestjs'),
      guide('Serverless', 'serverless'),
    ],
  },
  {
    text: 'Understand',
    items: [
      guide('What the signature proves', 'signature'),
      guide('Amounts', 'amounts'),
      guide('Key rotation', 'key-rotation'),
      page('Glossary', 'glossary'),
    ],
  },
  {
    text: 'Develop',
    items: [
      page('Troubleshooting', 'troubleshooting'),
      guide('Local development', 'local-development'),
      guide('Testing', 'testing'),
      guide('Why was it refused?', 'refused'),
      guide('Starting a payment', 'starting-a-payment'),
      guide('Outgoing proxies', 'proxies'),
      guide('ORMs', 'orms'),
    ],
  },
  {
    text: 'Operate',
    items: [
      page('Going to production', 'going-to-production'),
      page('Questions for the owner', 'questions'),
      page('Operating the inbox', 'inbox-operations'),
      page('The console', 'inbox-console'),
      guide('Recipes', 'recipes'),
      guide('Moving from your own check', 'moving'),
      guide('Missing callbacks', 'missing-callbacks'),
      guide('Evidence of money', 'reconciliation'),
      guide('The end of the month', 'month-end'),
      guide('Upgrading', 'upgrading'),
    ],
  },
  { text: 'Packages', items: PACKAGES.map((name) => ({ text: name, link: `/packages/${name}/` })) },
  {
    text: 'Background',
    collapsed: true,
    items: [
      page('The protocol', 'protocol'),
      page('Threats', 'threats'),
      page('Decisions', 'decisions'),
      page('How we know', 'how-we-know'),
      page('Benchmarks', 'benchmarks'),
      { text: 'Messages', link: '/packages/messages' },
      { text: 'Architecture', link: '/ARCHITECTURE' },
      { text: 'Contributing', link: '/CONTRIBUTING' },
      { text: 'Security', link: '/SECURITY' },
    ],
  },
];

/** Everything that users import has a page in the reference. */
const ENTRIES = PACKAGES.flatMap((folder) =>
  Object.keys(manifestIn(`packages/${folder}`).publishConfig?.exports ?? {})
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

const words = otherWords(readFileSync(`${root}/docs/glossary.md`, 'utf8'), 'docs');

const config: UserConfig = defineConfig({
  title: 'Payment service SDK',
  description: 'Verified callbacks and redirects of the payment service, for TypeScript',
  srcDir: root,
  outDir: 'dist',
  srcExclude: [
    '{proofs,.*}/**',
    'tools/!(site)/**',
    'tools/site/*.md',
    '**/api/*.md',
    '**/{AGENTS,CHANGELOG}.md',
    'apps/*/test/**',
  ],
  rewrites: pageOf,
  buildEnd: ({ pages: all, outDir }) => {
    const pages = all.filter((file) => file !== LANDING);
    writeMarkdown({ root, outDir, pages, pageOf, addressOf, groups: SIDEBAR });
  },
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    // The theme lets only fenced blocks scroll; an indented one would widen the page of a phone. Lines of 80 characters fit its
    // column at this size.
    [
      'style',
      {},
      '.vp-doc pre { overflow-x: auto } .vp-doc div[class*=language-] { --vp-code-font-size: 13px }',
    ],
    ['style', {}, ':root { --vp-code-lang-color: var(--vp-c-text-2) }'],
    ['style', {}, '.VPDoc.has-aside .content-container { max-width: 752px !important }'],
    // The button's name must hold its visible text. Both keys, Ctrl K and this one, open the search.
    ['style', {}, '.DocSearch-Button-Keys { display: none !important }'],
    ['style', {}, '.DocSearch-Button-Placeholder::after { content: " (/)" }'],
  ],
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
    },
  },
  // The index of the search is one chunk, loaded when a reader searches.
  vite: { plugins: [vueOfThisPackage], build: { chunkSizeWarningLimit: 2000 } },
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

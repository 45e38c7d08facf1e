/** The site: the repository's Markdown files where they are, and the reference that TypeDoc makes from the docstrings. */
import { existsSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { defineConfig, type UserConfig } from 'vitepress';

const root = resolve(import.meta.dirname, '../../..');
const REFERENCE = 'internal/site/reference/';
const { repository } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  repository?: { url: string };
};
const REPOSITORY = (repository?.url ?? 'https://github.com/example/payment-service-sdk').replace(
  /^git\+|\.git$/g,
  '',
);

/** The address of a page: that of its file, with two exceptions. A README is the index of its folder. */
function pageOf(file: string): string {
  return file.replace(REFERENCE, 'reference/').replace(/(^|\/)README\.md$/, '$1index.md');
}

function isPage(file: string): boolean {
  return /^((docs|packages|openapi|apps|benchmarks)\/(?!.*\/api\/)|internal\/site\/reference\/|[^/]+$).*\.md$|^[^/]+\.md$/.test(
    file,
  );
}

/** Where a relative link of a Markdown file leads on the site: to a page, or else to the file in the repository. */
function target(from: string, link: string): string {
  const [path = '', anchor] = link.split('#');
  let file = posix.join(posix.dirname(from), decodeURI(path)).replace(/\/$/, '');
  if (existsSync(`${root}/${file}/README.md`)) file = posix.join(file, 'README.md');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (isPage(file))
    return `/${pageOf(file)
      .replace(/\.md$/, '.html')
      .replace(/(^|\/)index\.html$/, '$1')}${hash}`;
  return `${REPOSITORY}/blob/main/${file}${hash}`;
}

const guide = (text: string, page: string) => ({ text, link: `/docs/guide/${page}` });
const packages = ['core', 'express', 'fastify', 'koa', 'fetch', 'inbox', 'sandbox'];

const config: UserConfig = defineConfig({
  title: 'Payment service SDK',
  description: 'Verified callbacks and redirects of the payment service, for TypeScript',
  srcDir: root,
  outDir: 'dist',
  srcExclude: [
    '{internal,.*}/!(site)/**',
    'internal/site/*.md',
    '**/api/*.md',
    '**/CHANGELOG.md',
    'apps/*/test/**',
  ],
  rewrites: pageOf,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    config(markdown) {
      markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
        const from = posix.relative(root, env.realPath ?? env.path);
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href');
          if (token.type === 'link_open' && href && !/^([a-z][a-z+.-]*:|#|\/)/i.test(href))
            token.attrSet('href', target(from, href));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    externalLinkIcon: true,
    nav: [
      { text: 'Guide', link: '/docs/guide/', activeMatch: '^/docs/guide/' },
      { text: 'Packages', link: '/packages/core/', activeMatch: '^/packages/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
    ],
    sidebar: [
      { text: 'Start', items: [{ text: 'Overview', link: '/' }, guide('Express', 'express')] },
      { text: 'Packages', items: packages.map((name) => ({ text: name, link: `/packages/${name}/` })) },
    ],
  },
});
export default config;

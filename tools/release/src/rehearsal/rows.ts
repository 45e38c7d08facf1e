import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fresh project: what is installed, with which client, and what runs. A command is words between single spaces. */
export interface Row {
  /** The name for the command line. */
  readonly name: string;
  /** The description in the table: the framework, the compiler, the runtime. */
  readonly about: string;
  /** @default 'npm' */
  readonly installer?: 'npm' | 'pnpm' | 'yarn pnp';
  /** The major version of a Node of this package. @default the Node of this process */
  readonly node?: 20 | 22 | 24 | 26;
  /** @default 'module' */
  readonly type?: 'module' | 'commonjs';
  /** Dependencies besides core, with their ranges; without a program, besides those that README.md installs. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The file of `programs/` that is compiled and started. Without one, the three steps of README.md are run. */
  readonly program?: string;
  /** With options, the types are checked. Without, the files are only translated, with the compiler of the repository. */
  readonly compiler?: Readonly<Record<string, unknown>>;
  /** Further files of the project, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands between the compilation and the start, of programs of the project's dependencies. */
  readonly prepare?: readonly string[];
  /** The command that starts the program. @default node on the compiled file */
  readonly start?: string;
  /** Whether the program ends after its report, as a test does, and not on SIGTERM. */
  readonly endsAlone?: boolean;
  /** How the program ends on SIGTERM. @default 0 */
  readonly exitCode?: number;
  /** For a control: what its failure must say. */
  readonly fails?: RegExp;
}

const row = (
  name: string,
  about: string,
  program: string,
  dependencies: Row['dependencies'],
  more: Partial<Row> = {},
): Row => ({ name, about, program, dependencies, ...more });

const express = { '@payment-service/express': 'latest' };
const koa = { '@payment-service/koa': 'latest' };
const web = { '@payment-service/fetch': 'latest' };
const inbox = { '@payment-service/inbox': 'latest' };
const express5 = { ...express, express: '^5' };
const fastify5 = { '@payment-service/fastify': 'latest', fastify: '^5' };
const hono = { ...web, hono: '^4', '@hono/node-server': '^2' };

const onExpress = (name: string, more: Partial<Row> = {}): Row =>
  row(name, 'Express 5', 'express.ts', express5, more);
const onCommonJs = (name: string, more: Partial<Row> = {}): Row =>
  onExpress(name, { about: 'Express 5 from CommonJS', type: 'commonjs', ...more });
const next = { ...web, next: '^16', react: '^19', 'react-dom': '^19' };
const onNext: Partial<Row> = {
  prepare: ['next build'],
  start: 'next start --port $PORT --hostname 127.0.0.1',
  exitCode: 143, // Its own handler: it finishes requests in flight, and ends with 128 + SIGTERM.
};
const ROUTE = 'app/[path]/route.js';
const route = readFileSync(join(import.meta.dirname, '../../programs', ROUTE), 'utf8');
/** The server of `output: 'standalone'`, without the packages of the project. */
const onNextWithInbox = (name: string, bundler: string, setting = ''): Row =>
  row(
    name,
    `the inbox on SQLite, Next.js 16, standalone, ${bundler}${setting && ', outside the bundle'}`,
    'next-inbox.ts',
    { ...next, ...inbox },
    {
      ...onNext,
      files: {
        [ROUTE]: route.replace(
          "{ web } from '../../out/web.js'",
          "{ webWithInbox as web } from '../../out/next-inbox.js'",
        ),
        'next.config.mjs': `export default { output: 'standalone', outputFileTracingRoot: import.meta.dirname, ${setting} };`,
      },
      prepare: [`next build --${bundler}`, 'node trace.mjs'],
      start: 'node .next/standalone/server.js',
    },
  );
/**
 * Copied by a file tracer, as platforms for functions do, and loaded with `require`. Not on Express 5: a dependency of it has
 * the condition `module-sync` as well, and cannot be loaded from what an old tracer copies.
 */
const traced = (name: string, nft: string, more: Partial<Row> = {}, options = ''): Row => {
  const program = more.program ?? 'inbox-hono.ts';
  const file = `out/${program.replace('.ts', '.js')}`;
  return {
    ...row(name, `the inbox on SQLite, Hono, traced by @vercel/nft ${nft}`, program, {
      ...{ ...hono, ...inbox, '@vercel/nft': nft },
    }),
    ...{
      type: 'commonjs',
      prepare: [`node trace.mjs ${file}${options}`],
      start: `node traced/${file}`,
      ...more,
    },
  };
};
/** In one file. */
const bundled = (
  name: string,
  about: string,
  dependencies: Row['dependencies'],
  ...prepare: readonly string[]
): Row =>
  row(
    name,
    `the inbox on SQLite, ${about}`,
    'inbox.ts',
    { ...express5, ...inbox, ...dependencies },
    ofBundle(...prepare),
  );
const underTest = (program: string, runner: Row['dependencies'], start: string): Partial<Row> => ({
  program,
  dependencies: { ...express5, ...runner },
  start,
  endsAlone: true,
});
const byReadme = { about: 'the program of README.md', dependencies: {} };

const ESBUILD =
  '--bundle --minify --platform=node --format=cjs --log-level=error --outfile=bundle/program.cjs';
const ESBUILD_WORKER =
  '--bundle --minify --format=esm --conditions=workerd,worker,browser --outfile=bundle/worker.js';
const WEBPACK = '--mode production --target node --output-path bundle --output-filename program.cjs';
const ROLLUP_PACKAGES = Object.fromEntries(
  ['rollup', ...['commonjs', 'json', 'node-resolve'].map((name) => `@rollup/plugin-${name}`)].map((name) => [
    name,
    '*',
  ]),
);
const ROLLUP = '-p node-resolve -p commonjs -p json --file bundle/program.cjs --format cjs --silent';
const ofBundle = (...prepare: readonly string[]): Partial<Row> => ({
  prepare,
  start: 'node bundle/program.cjs',
});
const DENO_SETTINGS = 'LITERAL_KEY PORT PUBLIC_KEY SERVICE_URL SIGNING_KEY'.replace(/\w+/g, '$&=$$$&');

/** Every row, the controls last. */
export const ROWS: readonly Row[] = [
  onExpress('express5'),
  row('express4', 'Express 4, ^4.17', 'express.ts', { ...express, express: '^4.17' }),
  row('express4-oldest', 'Express 4.17', 'express.ts', { ...express, express: '4.17.1' }),
  row('fastify5', 'Fastify 5', 'fastify.ts', fastify5),
  row('koa3', 'Koa 3', 'koa.ts', { ...koa, koa: '^3' }),
  row('koa2', 'Koa 2', 'koa.ts', { ...koa, koa: '^2' }),
  row('hono', 'Hono', 'hono.ts', hono),
  onCommonJs('commonjs'),
  ...typescript('5.4', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('5.9', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('7', ['nodenext', 'node16', 'bundler']),
  ...([20, 22, 26] as const).map((node) => row(`node${node}`, 'Fastify 5', 'fastify.ts', fastify5, { node })),
  ...([20, 22, 26] as const).map((node) => onCommonJs(`node${node}-commonjs`, { node })),
  onExpress('pnpm', { about: 'Express 5, nothing hoisted', installer: 'pnpm' }),
  onExpress('pnp', { installer: 'yarn pnp' }),
  row('pnp-hono', 'Hono', 'hono.ts', hono, { installer: 'yarn pnp' }),
  { ...byReadme, name: 'readme-npm' },
  { ...byReadme, name: 'readme-pnpm', installer: 'pnpm' },
  { ...byReadme, name: 'readme-pnp', installer: 'yarn pnp' },
  onExpress('jest', {
    about: 'Jest 30, Express 5',
    type: 'commonjs',
    ...underTest('jest.test.ts', { jest: '^30' }, 'jest --runInBand --rootDir out'),
  }),
  onExpress('vitest', {
    about: 'Vitest, Express 5',
    ...underTest('vitest.test.ts', { vitest: '^5' }, 'vitest run out/vitest.test.js'),
  }),
  ...nest(11),
  ...nest(12),
  row('next', 'Next.js 16, build without secrets and start', 'web.ts', next, onNext),
  onNextWithInbox('next-inbox', 'webpack', "serverExternalPackages: ['@payment-service/inbox']"),
  onNextWithInbox('next-inbox-turbopack', 'turbopack'),
  row('lambda-express', 'Lambda events, serverless-http', 'lambda-express.ts', {
    ...express5,
    'serverless-http': '^4',
  }),
  row('lambda-web', 'Lambda events, web-standard', 'lambda-web.ts', { ...web, hono: '^4' }),
  onExpress('esbuild', {
    about: 'esbuild, minified bundle',
    dependencies: { ...express5, esbuild: '*' },
    ...ofBundle(`esbuild out/express.js ${ESBUILD}`),
  }),
  onExpress('webpack', {
    about: 'webpack 5, production',
    dependencies: { ...express5, webpack: '^5', 'webpack-cli': '*' },
    ...ofBundle(`webpack ${WEBPACK} --entry ./out/express.js`),
  }),
  row('inbox', 'the inbox on SQLite, Express 5', 'inbox.ts', { ...express5, ...inbox }),
  row(
    'pnp-inbox',
    'the inbox on SQLite, Express 5',
    'inbox.ts',
    { ...express5, ...inbox },
    { installer: 'yarn pnp' },
  ),
  bundled('inbox-esbuild', 'esbuild, minified', { esbuild: '*' }, `esbuild out/inbox.js ${ESBUILD}`),
  bundled('inbox-rollup', 'rollup', ROLLUP_PACKAGES, `rollup out/inbox.js ${ROLLUP}`),
  bundled(
    'inbox-webpack',
    'webpack 5',
    { webpack: '^5', 'webpack-cli': '*' },
    `webpack ${WEBPACK} --entry ./out/inbox.js`,
  ),
  ...['0.27', '0.29', '0.30', '1'].map((nft) => traced(`nft${nft}`, `^${nft}`)),
  traced('nft1-module', '^1', { type: 'module' }),
  traced('nft1-node20', '^1', { about: 'Hono, traced by @vercel/nft ^1', program: 'hono.ts', node: 20 }),
  row('bun', 'Bun', 'bun.ts', { ...web, bun: '^1' }, { start: 'bun out/bun.js' }),
  row(
    'deno',
    'Deno, with no permission but --allow-net',
    'deno.ts',
    { ...web, '@payment-service/sandbox': 'latest', deno: '^2' },
    { start: `deno run --no-prompt --allow-net out/deno.js ${DENO_SETTINGS}` },
  ),
  row(
    'workerd',
    'workerd',
    'workerd.ts',
    { ...web, workerd: '*', esbuild: '*' },
    {
      prepare: [`esbuild out/workerd.js ${ESBUILD_WORKER}`],
      start: 'workerd serve --socket-addr http=127.0.0.1:$PORT workerd.capnp',
    },
  ),
  onExpress('control-dist', {
    about: 'a package without its dist',
    dependencies: { ...express5, '@payment-service/express': 'without-dist' },
    fails: /ERR_MODULE_NOT_FOUND|Cannot find module/,
  }),
  {
    // As in README.md, whose project does not itself depend on core, where core would be found.
    name: 'control-dependency',
    about: 'a package that does not declare core',
    installer: 'pnpm',
    dependencies: { '@payment-service/express': 'without-core' },
    fails: /Cannot find package '@payment-service\/core'/,
  },
  onExpress('control-copies', {
    about: 'two copies of core',
    dependencies: { ...express5, '@payment-service/express': 'other-core' },
    fails: /the error is that of core: false/,
  }),
  traced(
    'control-nft',
    '^0.29',
    {
      about: 'a CommonJS entry that does not name its module, traced',
      fails: /Cannot find module '\S+@payment-service.+dist.index\.js'/,
    },
    ' unnamed',
  ),
];

/** The types are checked, including those of the packages, and the program runs: as CommonJS if the resolution is older. */
function typescript(version: string, resolutions: readonly string[]): readonly Row[] {
  const settings: Readonly<Record<string, Row['compiler']>> = {
    nodenext: { module: 'nodenext' },
    node16: { module: 'node16' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
    node10: { module: 'commonjs', moduleResolution: 'node10', target: 'es2020' },
  };
  return resolutions.map((resolution) =>
    onExpress(`ts${version}-${resolution}`, {
      about: `TypeScript ${version}, ${resolution}`,
      type: resolution === 'node16' || resolution === 'node10' ? 'commonjs' : 'module',
      dependencies: {
        ...express5,
        '@types/express': '^5',
        '@types/node': '^20',
        typescript: `~${version}.0`,
      },
      compiler: { skipLibCheck: false, ...settings[resolution] },
    }),
  );
}

function nest(major: number): readonly Row[] {
  return ['express', 'fastify'].map((framework) => ({
    name: `nest${major}-${framework}`,
    about: `NestJS ${major} on ${framework}`,
    type: 'commonjs',
    dependencies: {
      [`@payment-service/${framework}`]: 'latest',
      ...Object.fromEntries(
        ['common', 'core', `platform-${framework}`].map((name) => [`@nestjs/${name}`, `^${major}`]),
      ),
      'reflect-metadata': '^0.2',
      rxjs: '^7',
    },
    program: `nest-${framework}.ts`,
  }));
}

import type { Row } from './row.ts';

const express = { '@payment-service/express': 'latest' };
const fastify = { '@payment-service/fastify': 'latest' };
const koa = { '@payment-service/koa': 'latest' };
const web = { '@payment-service/fetch': 'latest' };
const express5 = { ...express, express: '^5' };
const nest = { '@nestjs/common': '^11', '@nestjs/core': '^11', 'reflect-metadata': '^0.2', rxjs: '^7' };
const MINIFIED = ['--bundle', '--minify', '--platform=node', '--format=cjs', '--log-level=error'];
const FOR_WORKERS = ['--bundle', '--minify', '--format=esm', '--conditions=workerd,worker,browser'];
const WEBPACK_OUTPUT = ['--output-path', 'bundle', '--output-filename', 'program.cjs'];
const DENO_SETTINGS = ['LITERAL_KEY', 'PORT', 'PUBLIC_KEY', 'SERVICE_URL', 'SIGNING_KEY'].map(
  (name) => `${name}=$${name}`,
);

export const ROWS: readonly Row[] = [
  { name: 'express5', about: 'Express 5', dependencies: express5, files: ['express.ts'] },
  {
    name: 'express4',
    about: 'Express 4, ^4.17',
    dependencies: { ...express, express: '^4.17' },
    files: ['express.ts'],
  },
  {
    name: 'express4-oldest',
    about: 'Express 4.17',
    dependencies: { ...express, express: '4.17.1' },
    files: ['express.ts'],
  },
  {
    name: 'fastify5',
    about: 'Fastify 5',
    dependencies: { ...fastify, fastify: '^5' },
    files: ['fastify.ts'],
  },
  { name: 'koa3', about: 'Koa 3', dependencies: { ...koa, koa: '^3' }, files: ['koa.ts'] },
  { name: 'koa2', about: 'Koa 2', dependencies: { ...koa, koa: '^2' }, files: ['koa.ts'] },
  {
    name: 'hono',
    about: 'Hono',
    dependencies: { ...web, hono: '^4', '@hono/node-server': '^2' },
    files: ['hono.ts', 'web.ts'],
  },
  {
    name: 'commonjs',
    about: 'Express 5 from CommonJS',
    type: 'commonjs',
    dependencies: express5,
    files: ['express.ts'],
  },
  ...typescript('5.4', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('5.9', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('7', ['nodenext', 'node16', 'bundler']),
  ...([20, 22, 26] as const).map((node) => ({
    name: `node${node}`,
    about: 'Fastify 5',
    node,
    dependencies: { ...fastify, fastify: '^5' },
    files: ['fastify.ts'],
  })),
  ...([20, 22, 26] as const).map((node) => ({
    name: `node${node}-commonjs`,
    about: 'Express 5 from CommonJS',
    node,
    type: 'commonjs' as const,
    dependencies: express5,
    files: ['express.ts'],
  })),
  {
    name: 'pnpm',
    about: 'Express 5, nothing hoisted',
    installer: 'pnpm',
    dependencies: express5,
    files: ['express.ts'],
  },
  { name: 'pnp', about: 'Express 5', installer: 'yarn pnp', dependencies: express5, files: ['express.ts'] },
  {
    name: 'pnp-hono',
    about: 'Hono',
    installer: 'yarn pnp',
    dependencies: { ...web, hono: '^4', '@hono/node-server': '^2' },
    files: ['hono.ts', 'web.ts'],
  },
  { name: 'readme-npm', about: 'the program of README.md', dependencies: {}, files: [], readme: 'README.md' },
  {
    name: 'readme-pnpm',
    about: 'the program of README.md',
    installer: 'pnpm',
    dependencies: {},
    files: [],
    readme: 'README.md',
  },
  {
    name: 'readme-pnp',
    about: 'the program of README.md',
    installer: 'yarn pnp',
    dependencies: {},
    files: [],
    readme: 'README.md',
  },
  {
    name: 'jest',
    about: 'Jest 30, Express 5',
    type: 'commonjs',
    dependencies: { ...express5, jest: '^30' },
    files: ['jest.test.ts', 'serve-once.ts'],
    start: ['jest', '--runInBand', '--rootDir', 'out'],
    endsAlone: true,
  },
  {
    name: 'vitest',
    about: 'Vitest, Express 5',
    dependencies: { ...express5, vitest: '^5' },
    files: ['vitest.test.ts', 'serve-once.ts'],
    start: ['vitest', 'run', 'out/vitest.test.js'],
    endsAlone: true,
  },
  {
    name: 'nest-express',
    about: 'NestJS 11 on Express',
    type: 'commonjs',
    dependencies: { ...express, '@nestjs/platform-express': '^11', ...nest },
    files: ['nest-express.ts'],
  },
  {
    name: 'nest-fastify',
    about: 'NestJS 11 on Fastify',
    type: 'commonjs',
    dependencies: { ...fastify, '@nestjs/platform-fastify': '^11', ...nest },
    files: ['nest-fastify.ts'],
  },
  {
    name: 'next',
    about: 'Next.js 16, build without secrets and start',
    dependencies: { ...web, next: '^16', react: '^19', 'react-dom': '^19' },
    files: ['web.ts', 'next/app/[path]/route.js'],
    prepare: [['next', 'build']],
    start: ['next', 'start', '--port', '$PORT', '--hostname', '127.0.0.1'],
    exitCode: 143, // Its own: it serves what is in flight, and ends with 128 + SIGTERM.
  },
  {
    name: 'lambda-express',
    about: 'Lambda events, serverless-http',
    dependencies: { ...express5, 'serverless-http': '^4' },
    files: ['lambda-express.ts', 'lambda-front.ts'],
  },
  {
    name: 'lambda-web',
    about: 'Lambda events, web-standard',
    dependencies: { ...web, hono: '^4' },
    files: ['lambda-web.ts', 'lambda-front.ts', 'web.ts'],
  },
  {
    name: 'esbuild',
    about: 'esbuild, minified bundle',
    dependencies: { ...express5, esbuild: '*' },
    files: ['express.ts'],
    prepare: [['esbuild', 'out/express.js', ...MINIFIED, '--outfile=bundle/program.cjs']],
    start: ['node', 'bundle/program.cjs'],
  },
  {
    name: 'webpack',
    about: 'webpack 5, production',
    dependencies: { ...express5, webpack: '^5', 'webpack-cli': '*' },
    files: ['express.ts'],
    prepare: [
      [
        'webpack',
        '--mode',
        'production',
        '--target',
        'node',
        '--entry',
        './out/express.js',
        ...WEBPACK_OUTPUT,
      ],
    ],
    start: ['node', 'bundle/program.cjs'],
  },
  {
    name: 'inbox',
    about: 'the inbox on SQLite, Express 5',
    dependencies: { ...express5, '@payment-service/inbox': 'latest' },
    files: ['inbox.ts'],
  },
  {
    name: 'inbox-esbuild',
    about: 'the inbox on SQLite, external to a bundle',
    dependencies: { ...express5, '@payment-service/inbox': 'latest', esbuild: '*' },
    files: ['inbox.ts'],
    prepare: [
      [
        'esbuild',
        'out/inbox.js',
        ...MINIFIED,
        '--external:@payment-service/inbox',
        '--outfile=bundle/program.cjs',
      ],
    ],
    start: ['node', 'bundle/program.cjs'],
  },
  {
    name: 'bun',
    about: 'Bun',
    dependencies: { ...web, bun: '^1' },
    files: ['bun.ts', 'web.ts'],
    start: ['bun', 'out/bun.js'],
  },
  {
    name: 'deno',
    about: 'Deno, with no permission but --allow-net',
    dependencies: { ...web, '@payment-service/sandbox': 'latest', deno: '^2' },
    files: ['deno.ts', 'web.ts'],
    start: ['deno', 'run', '--no-prompt', '--allow-net', 'out/deno.js', ...DENO_SETTINGS],
  },
  {
    name: 'workerd',
    about: 'workerd',
    dependencies: { ...web, workerd: '*', esbuild: '*' },
    files: ['workerd.ts', 'web.ts', 'workerd.capnp'],
    prepare: [['esbuild', 'out/workerd.js', ...FOR_WORKERS, '--outfile=bundle/worker.js']],
    start: ['workerd', 'serve', '--socket-addr', 'http=127.0.0.1:$PORT', 'workerd.capnp'],
  },
];

/** The types are checked, those of the packages included, and the program runs: as CommonJS where the resolution is older. */
function typescript(version: string, resolutions: readonly string[]): readonly Row[] {
  return resolutions.map((resolution) => {
    const isCommonJs = resolution === 'node16' || resolution === 'node10';
    const settings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      nodenext: { module: 'nodenext' },
      node16: { module: 'node16' },
      bundler: { module: 'esnext', moduleResolution: 'bundler' },
      node10: { module: 'commonjs', moduleResolution: 'node10', target: 'es2020', lib: ['es2022'] },
    };
    return {
      name: `ts${version}-${resolution}`,
      about: `TypeScript ${version}, ${resolution}`,
      type: isCommonJs ? 'commonjs' : 'module',
      dependencies: {
        ...express5,
        '@types/express': '^5',
        '@types/node': '^20',
        typescript: `~${version}.0`,
      },
      files: ['express.ts'],
      compiler: { skipLibCheck: false, ...settings[resolution] },
    };
  });
}

export const CONTROLS: readonly Row[] = [
  {
    name: 'control-dist',
    about: 'a package without its dist',
    dependencies: { '@payment-service/express': 'without-dist', express: '^5' },
    files: ['express.ts'],
    fails: /ERR_MODULE_NOT_FOUND|Cannot find module/,
  },
  {
    name: 'control-dependency',
    about: 'a package that does not declare core',
    installer: 'pnpm',
    dependencies: { '@payment-service/express': 'without-core' },
    files: [],
    // Its project does not depend on core itself, which would be found.
    readme: 'README.md',
    fails: /Cannot find package '@payment-service\/core'/,
  },
  {
    name: 'control-copies',
    about: 'two copies of core',
    dependencies: { '@payment-service/express': 'other-core', express: '^5' },
    files: ['express.ts'],
    fails: /the error is that of core: false/,
  },
];

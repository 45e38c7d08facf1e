import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A fresh project: what is installed, with which client, and what runs. A command is words separated by single spaces. */
export interface Row {
  /** The name on the command line. */
  readonly name: string;
  /** The description in the table: the framework, the compiler, the runtime. */
  readonly about: string;
  /** @default 'npm' */
  readonly installer?: 'npm' | 'pnpm' | 'yarn pnp';
  /** The major version of a Node that this package installs. @default the Node of this process */
  readonly node?: 20 | 22 | 24 | 26;
  /** @default 'module' */
  readonly type?: 'module' | 'commonjs';
  /**
   * As for `npm install`: `express@^5`, or a name alone for the latest. Core is installed as well; without a program, what
   * README.md installs.
   */
  readonly dependencies: readonly string[];
  /** The file of `programs/` that is compiled and started. Without one, the three steps of README.md are run. */
  readonly program?: string;
  /** Compiler options, with which the types are checked. Without them, the repository's compiler only translates the files. */
  readonly compiler?: Readonly<Record<string, unknown>>;
  /** Additional files of the project, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands to run between compilation and start, with programs of the project's dependencies. */
  readonly prepare?: readonly string[];
  /** The command that starts the program. @default node on the compiled file */
  readonly start?: string;
  /** Whether the program ends after its report, like a test, and not on SIGTERM. */
  readonly endsAlone?: boolean;
  /** The program's exit code on SIGTERM. @default 0 */
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

const express = '@payment-service/express';
const web = ['@payment-service/fetch'];
const express5 = [express, 'express@^5'];
const fastify5 = ['@payment-service/fastify', 'fastify@^5'];
const hono = [...web, 'hono@^4', '@hono/node-server@^2'];
const inbox = '@payment-service/inbox';
const inbox5 = [...express5, inbox];
const next = [...web, 'next@^16', 'react@^19', 'react-dom@^19'];
const type = 'commonjs';
const pnp = { installer: 'yarn pnp' } as const;
const byReadme = { about: 'the program of README.md', dependencies: [] };

const onNext: Partial<Row> = {
  prepare: ['next build'],
  start: 'next start --port $PORT --hostname 127.0.0.1',
  exitCode: 143, // Next.js handles SIGTERM: it finishes requests in flight and ends with 128 + SIGTERM.
};
const ROUTE = 'app/[path]/route.js';
const route = readFileSync(join(import.meta.dirname, '../../programs', ROUTE), 'utf8').replace(
  "{ web } from '../../out/web.js'",
  "{ webWithInbox as web } from '../../out/next-inbox.js'",
);
/** The server that `output: 'standalone'` builds, without the project's packages. */
const onNextWithInbox = (name: string, bundler: string, setting = ''): Row => {
  const config = `output: 'standalone', outputFileTracingRoot: import.meta.dirname, ${setting}`;
  const about = `the inbox on SQLite, Next.js 16, standalone, ${bundler}${setting && ', outside the bundle'}`;
  return row(name, about, 'next-inbox.ts', [...next, inbox], {
    ...onNext,
    files: { [ROUTE]: route, 'next.config.mjs': `export default { ${config} };` },
    prepare: [`next build --${bundler}`, 'node trace.mjs'],
    start: 'node .next/standalone/server.js',
  });
};
/**
 * Copied by a file tracer, as function platforms do, and loaded with `require`. Not on Express 5: one of its dependencies also has
 * the condition `module-sync`, and cannot be loaded from what an old tracer copies.
 */
const traced = (name: string, nft: string, more: Partial<Row> = {}, options = ''): Row => {
  const program = more.program ?? 'inbox-hono.ts';
  const file = `out/${program.replace('.ts', '.js')}`;
  const about = `the inbox on SQLite, Hono, traced by @vercel/nft ${nft}`;
  const prepare = [`node trace.mjs ${file}${options}`];
  const tracing = { type, prepare, start: `node traced/${file}`, ...more } as const;
  return row(name, about, program, [...hono, inbox, `@vercel/nft@${nft}`], tracing);
};

const BUNDLERS = {
  esbuild: [
    ['esbuild'],
    'esbuild FILE --bundle --minify --platform=node --format=cjs --log-level=error --outfile=bundle/program.cjs',
  ],
  rollup: [
    ['rollup', '@rollup/plugin-commonjs', '@rollup/plugin-json', '@rollup/plugin-node-resolve'],
    'rollup FILE -p node-resolve -p commonjs -p json --file bundle/program.cjs --format cjs --silent',
  ],
  webpack: [
    ['webpack@^5', 'webpack-cli'],
    'webpack --mode production --target node --output-path bundle --output-filename program.cjs --entry ./FILE',
  ],
} as const;
/** Bundled into one file. */
const bundled = (
  name: string,
  about: string,
  program: 'express' | 'inbox',
  bundler: keyof typeof BUNDLERS,
): Row => {
  const [packages, command] = BUNDLERS[bundler];
  return row(name, about, `${program}.ts`, [...(program === 'inbox' ? inbox5 : express5), ...packages], {
    prepare: [command.replace('FILE', `out/${program}.js`)],
    start: 'node bundle/program.cjs',
  });
};
const ESBUILD_WORKER =
  '--bundle --minify --format=esm --conditions=workerd,worker,browser --outfile=bundle/worker.js';
const DENO_SETTINGS = 'LITERAL_KEY PORT PUBLIC_KEY SERVICE_URL SIGNING_KEY'.replace(/\w+/g, '$&=$$$&');

/** Every row, the controls last. */
export const ROWS: readonly Row[] = [
  row('express5', 'Express 5', 'express.ts', express5),
  row('express4', 'Express 4, ^4.17', 'express.ts', [express, 'express@^4.17']),
  row('express4-oldest', 'Express 4.17', 'express.ts', [express, 'express@4.17.1']),
  row('fastify5', 'Fastify 5', 'fastify.ts', fastify5),
  row('koa3', 'Koa 3', 'koa.ts', ['@payment-service/koa', 'koa@^3']),
  row('koa2', 'Koa 2', 'koa.ts', ['@payment-service/koa', 'koa@^2']),
  row('hono', 'Hono', 'hono.ts', hono),
  row('commonjs', 'Express 5 from CommonJS', 'express.ts', express5, { type }),
  ...typescript('5.4', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('5.9', ['nodenext', 'node16', 'bundler', 'node10']),
  ...typescript('7', ['nodenext', 'node16', 'bundler']),
  ...([20, 22, 26] as const).flatMap((node) => [
    row(`node${node}`, 'Fastify 5', 'fastify.ts', fastify5, { node }),
    row(`node${node}-commonjs`, 'Express 5 from CommonJS', 'express.ts', express5, { node, type }),
  ]),
  row('pnpm', 'Express 5, nothing hoisted', 'express.ts', express5, { installer: 'pnpm' }),
  row('pnp', 'Express 5', 'express.ts', express5, pnp),
  row('pnp-hono', 'Hono', 'hono.ts', hono, pnp),
  { ...byReadme, name: 'readme-npm' },
  { ...byReadme, name: 'readme-pnpm', installer: 'pnpm' },
  { ...byReadme, name: 'readme-pnp', ...pnp },
  row('jest', 'Jest 30, Express 5', 'jest.test.ts', [...express5, 'jest@^30'], {
    type,
    start: 'jest --runInBand --rootDir out',
    endsAlone: true,
  }),
  row('vitest', 'Vitest, Express 5', 'vitest.test.ts', [...express5, 'vitest@^5'], {
    start: 'vitest run out/vitest.test.js',
    endsAlone: true,
  }),
  ...nest(11),
  ...nest(12),
  row('next', 'Next.js 16, build without secrets and start', 'web.ts', next, onNext),
  onNextWithInbox('next-inbox', 'webpack', "serverExternalPackages: ['@payment-service/inbox']"),
  onNextWithInbox('next-inbox-turbopack', 'turbopack'),
  row('lambda-express', 'Lambda events, serverless-http', 'lambda-express.ts', [
    ...express5,
    'serverless-http@^4',
  ]),
  row('lambda-web', 'Lambda events, web-standard', 'lambda-web.ts', [...web, 'hono@^4']),
  bundled('esbuild', 'esbuild, minified bundle', 'express', 'esbuild'),
  bundled('webpack', 'webpack 5, production', 'express', 'webpack'),
  row('inbox', 'the inbox on SQLite, Express 5', 'inbox.ts', inbox5),
  row('pnp-inbox', 'the inbox on SQLite, Express 5', 'inbox.ts', inbox5, pnp),
  bundled('inbox-esbuild', 'the inbox on SQLite, esbuild, minified', 'inbox', 'esbuild'),
  bundled('inbox-rollup', 'the inbox on SQLite, rollup', 'inbox', 'rollup'),
  bundled('inbox-webpack', 'the inbox on SQLite, webpack 5', 'inbox', 'webpack'),
  ...['0.27', '0.29', '0.30', '1'].map((nft) => traced(`nft${nft}`, `^${nft}`)),
  traced('nft1-module', '^1', { type: 'module' }),
  traced('nft1-node20', '^1', { about: 'Hono, traced by @vercel/nft ^1', program: 'hono.ts', node: 20 }),
  row('bun', 'Bun', 'bun.ts', [...web, 'bun@^1'], { start: 'bun out/bun.js' }),
  row(
    'deno',
    'Deno, with no permission but --allow-net',
    'deno.ts',
    [...web, '@payment-service/sandbox', 'deno@^2'],
    {
      start: `deno run --no-prompt --allow-net out/deno.js ${DENO_SETTINGS}`,
    },
  ),
  row('workerd', 'workerd', 'workerd.ts', [...web, 'workerd', 'esbuild'], {
    prepare: [`esbuild out/workerd.js ${ESBUILD_WORKER}`],
    start: 'workerd serve --socket-addr http=127.0.0.1:$PORT workerd.capnp',
  }),
  row('control-dist', 'a package without its dist', 'express.ts', ['express@^5', `${express}@without-dist`], {
    fails: /ERR_MODULE_NOT_FOUND|Cannot find module/,
  }),
  {
    // As in README.md: if the project itself depended on core, core would be found there.
    name: 'control-dependency',
    about: 'a package that does not declare core',
    installer: 'pnpm',
    dependencies: [`${express}@without-core`],
    fails: /Cannot find package '@payment-service\/core'/,
  },
  row('control-copies', 'two copies of core', 'express.ts', ['express@^5', `${express}@other-core`], {
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

/** Checks the types, including those of the packages, and runs the program: as CommonJS if the resolution is node10 or node16. */
function typescript(version: string, resolutions: readonly string[]): readonly Row[] {
  const settings: Readonly<Record<string, Row['compiler']>> = {
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
    node10: { module: 'commonjs', moduleResolution: 'node10', target: 'es2020' },
  };
  const dependencies = [...express5, '@types/express@^5', '@types/node@^20', `typescript@~${version}.0`];
  return resolutions.map((resolution) =>
    row(`ts${version}-${resolution}`, `TypeScript ${version}, ${resolution}`, 'express.ts', dependencies, {
      type: /^node1/.test(resolution) ? 'commonjs' : 'module',
      compiler: { skipLibCheck: false, module: resolution, ...settings[resolution] },
    }),
  );
}

function nest(major: number): readonly Row[] {
  return ['express', 'fastify'].map((framework) => {
    const parts = ['common', 'core', `platform-${framework}`].map((name) => `@nestjs/${name}@^${major}`);
    const dependencies = [`@payment-service/${framework}`, ...parts, 'reflect-metadata@^0.2', 'rxjs@^7'];
    const about = `NestJS ${major} on ${framework}`;
    return row(`nest${major}-${framework}`, about, `nest-${framework}.ts`, dependencies, { type });
  });
}

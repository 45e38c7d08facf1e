/** Some files of a package, and the percentage of faults planted in them that its tests must find. */
export interface Part {
  readonly name: string;
  readonly run: Run;
  /** Globs in the package. A file belongs to the first part that names it. */
  readonly files: readonly string[];
  readonly target: number;
  /** Every survivor has an entry in survivors.md. */
  readonly isExplained?: boolean;
}

/** What Stryker tries in one run: the sources of a package, judged by those of its tests that reach them. */
export interface Run {
  readonly package: string;
  /** Globs in the package. Browsers, other processes and limits of the server are out of reach: no fault is planted there. */
  readonly tests: readonly string[];
  /** Never changed, as other threads and generated files do not read the changed code. */
  readonly except?: readonly string[];
}

const ADAPTERS = ['express', 'fastify', 'fetch', 'koa'];
const core: Run = {
  package: 'packages/core',
  // The request objects of Node and the web platform are covered by the adapters' tests, on real sockets.
  tests: [
    'test/**/!(*.portable).test.ts',
    '../express/test/conformance.test.ts',
    '../fetch/test/{hono,request}*.test.ts',
  ],
  except: ['src/generated/**', 'src/**/digest.portable.ts'],
};
const portable: Run = { package: 'packages/core', tests: ['test/**/*.portable.test.ts'] };
const inbox: Run = {
  package: 'packages/inbox',
  tests: ['test/**/!(browser|volume|doctor-postgres).test.ts'],
  except: ['src/**/sqlite-thread.ts'],
};
const sandbox: Run = {
  package: 'packages/sandbox',
  tests: ['test/!(browser)/**/*.test.ts', 'test/*.test.ts'],
};
const explained = { target: 95, isExplained: true };

export const PARTS: readonly Part[] = [
  { name: 'redirect', run: core, files: ['src/verify/redirect-query.ts'], ...explained },
  { name: 'portable', run: portable, files: ['src/verify/digest/digest.portable.ts'], ...explained },
  { name: 'verifier', run: core, files: ['src/verify/**'], ...explained },
  { name: 'amounts', run: core, files: ['src/**/{amounts,decimal}.ts'], ...explained },
  { name: 'seam', run: core, files: ['src/receive/**'], target: 90, isExplained: true },
  { name: 'core', run: core, files: ['src/**'], target: 85 },
  { name: 'verdict', run: inbox, files: ['src/verdict/evaluate.ts'], ...explained },
  { name: 'console', run: inbox, files: ['src/console/**'], target: 85 },
  { name: 'inbox', run: inbox, files: ['src/**'], target: 85 },
  ...ADAPTERS.map((name) => ({
    name,
    run: { package: `packages/${name}`, tests: ['test/*.test.ts'] },
    files: ['src/**'],
    target: 85,
  })),
  { name: 'sandbox', run: sandbox, files: ['src/**'], target: 80 },
];

/** Its faults are those of sql-faults.json: see plant-sql.ts. */
export const SQL: Part = {
  name: 'sql',
  run: { package: 'packages/inbox', tests: [] },
  files: [],
  // A quarter of the list changes nothing that anyone could see.
  target: 75,
  isExplained: true,
};

/** The same faults, judged by tests that never reach them. A program that reports one of them as found would be wrong. */
export const CONTROL: Part = {
  name: 'control',
  run: { package: 'packages/core', tests: ['test/near-name.test.ts'] },
  files: ['src/verify/signature.ts'],
  target: 0,
};

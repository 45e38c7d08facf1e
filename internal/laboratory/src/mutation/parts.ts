/** One part of the product, and the tests that have to notice faults in it: globs in its package, so that files can move. */
export interface Part {
  readonly name: string;
  /** Of the repository. */
  readonly package: string;
  /** What is changed together, and judged by the same tests. */
  readonly runs: readonly { readonly mutate: readonly string[]; readonly tests: readonly string[] }[];
  /** Of 100 faults, how many the tests must find. */
  readonly target: number;
  /** Every survivor has an entry in survivors.md. */
  readonly isExplained: boolean;
  /** The share of the faults that is tried. @default 1 */
  readonly share?: number;
}

/** Its faults are not Stryker's: see contract-faults.ts. */
export const CONTRACT: Part = {
  name: 'contract',
  package: 'openapi',
  runs: [],
  target: 100,
  isExplained: true,
};

export const PARTS: readonly Part[] = [
  {
    name: 'verifier',
    package: 'packages/core',
    // Each file with the tests that read it closely; a new file is judged by all rules.
    runs: [
      {
        mutate: [
          'src/**/verify/**/*.ts',
          '!**/{digest.portable,redirect-query,signed-fields,json-members,callback-body,signing-keys,digest.node,verified}.ts',
        ],
        tests: [
          'test/{rules/*,receive/options}.test.ts',
          'test/threats/{polluted-prototypes,replays}.test.ts',
          'test/vectors.test.ts',
        ],
      },
      {
        mutate: ['src/**/verify/**/signed-fields.ts'],
        tests: ['test/rules/{colons,signed-fields}.test.ts', 'test/threats/replays.test.ts'],
      },
      {
        mutate: ['src/**/verify/**/{json-members,callback-body}.ts'],
        tests: [
          'test/amounts.test.ts',
          'test/threats/{body-cost,hostile-input,json-names,live-bodies,polluted-prototypes}.test.ts',
          'test/vectors.test.ts',
        ],
      },
      {
        mutate: ['src/**/verify/**/{signing-keys,digest.node}.ts'],
        tests: [
          'test/rules/{refusals,signed-fields,signing-keys,signature-header}.test.ts',
          'test/threats/{replays,timing}.test.ts',
        ],
      },
      {
        mutate: ['src/**/verify/**/verified.ts'],
        tests: [
          'test/{rules/{refusals,timestamp,unknown-values},amounts}.test.ts',
          'test/threats/{leaks,live-bodies,polluted-prototypes,replays,two-copies}.test.ts',
        ],
      },
      {
        mutate: ['src/**/verify/**/digest.portable.ts'],
        tests: ['test/{vectors,threats/timing}.portable.test.ts'],
      },
    ],
    target: 95,
    isExplained: true,
  },
  {
    name: 'redirect',
    package: 'packages/core',
    runs: [
      {
        mutate: ['src/**/verify/redirect-query.ts'],
        tests: ['test/rules/redirect-queries.test.ts', 'test/threats/redirect-cost.test.ts'],
      },
    ],
    target: 95,
    isExplained: true,
  },
  {
    name: 'amounts',
    package: 'packages/core',
    runs: [
      {
        mutate: ['src/**/{amounts,decimal}.ts'],
        tests: ['test/{amounts,decimal}.test.ts'],
      },
    ],
    target: 95,
    isExplained: true,
  },
  {
    name: 'verdict',
    package: 'packages/inbox',
    runs: [{ mutate: ['src/**/verdict/evaluate.ts'], tests: ['test/evaluation.test.ts'] }],
    target: 95,
    isExplained: true,
  },
  {
    name: 'seam',
    package: 'packages/core',
    runs: [
      {
        mutate: ['src/**/receive/**/*.ts', '!src/**/receive/{inflate.portable,node,web}.ts'],
        tests: ['test/receive/*.test.ts', 'test/threats/{body-cost,callable-promises}.test.ts'],
      },
      {
        // What Node and the web platform call a request is known to the adapters, on real sockets.
        mutate: ['src/**/receive/{node,web}.ts'],
        tests: [
          'test/receive/bodies.test.ts',
          '../express/test/conformance.test.ts',
          '../fetch/test/{hono,request}*.test.ts',
        ],
      },
      { mutate: ['src/**/receive/inflate.portable.ts'], tests: ['test/receive/inflate.portable.test.ts'] },
    ],
    target: 90,
    isExplained: true,
  },
  {
    name: 'client',
    package: 'packages/core',
    runs: [
      {
        mutate: ['src/**/client/**/*.ts'],
        tests: [
          'test/client/**/*.test.ts',
          'test/{eligible-banks,eligible-providers,payout-balance}.test.ts',
        ],
      },
    ],
    target: 85,
    isExplained: false,
  },
  {
    name: 'inbox',
    package: 'packages/inbox',
    runs: [
      {
        mutate: [
          'src/**/*.ts',
          '!src/{console,command}/**',
          '!src/store/{postgres,libraries}/**',
          '!**/{index,evaluate,sqlite-thread}.ts',
        ],
        // Tests of PostgreSQL alone are not asked, and those of both engines run on SQLite.
        tests: [
          'test/{options,evaluation,waiting,words}.test.ts',
          'test/contract/!(amounts|dispatch|paid-by-another|starts|transaction).test.ts',
          'test/{intake/spool,reconciliation/csv,store/sqlite}.test.ts',
        ],
      },
    ],
    target: 85,
    isExplained: false,
    share: 0.06,
  },
  {
    name: 'console',
    package: 'packages/inbox',
    runs: [
      {
        mutate: ['src/console/**/*.ts'],
        tests: ['test/console/{access,all-pages,frameworks,pages}.test.ts'],
      },
    ],
    target: 85,
    isExplained: false,
    share: 0.15,
  },
  CONTRACT,
];

/** The same faults, judged by tests that never reach them: a program that calls one of them found would be wrong. */
export const CONTROL: Part = {
  name: 'control',
  package: 'packages/core',
  runs: [{ mutate: ['src/**/verify/signature.ts'], tests: ['test/near-name.test.ts'] }],
  target: 0,
  isExplained: false,
  share: 0.1,
};

/** One part of the product, and the tests that must notice faults in it: globs in its package, so that files can move. */
export interface Part {
  readonly name: string;
  /** The folder of the package, in the repository. */
  readonly package: string;
  /** Files that are changed together and judged by the same tests. */
  readonly runs: readonly (readonly [mutate: string, tests: string | readonly string[], except?: string])[];
  /** The percentage of faults that the tests must find. */
  readonly target: number;
  /** Every survivor has an entry in survivors.md. */
  readonly isExplained: boolean;
  /** The share of the faults that is tried. @default 1 */
  readonly share?: number;
}

const CORE = 'packages/core';
export const INBOX = 'packages/inbox';

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
    package: CORE,
    // Each file with the tests that cover it closely; a new file is judged by all rules.
    runs: [
      [
        'src/**/verify/**/*.ts',
        'test/{vectors,rules/*,receive/options,threats/{polluted-prototypes,replays}}.test.ts',
        '**/{digest.*,redirect-query,signed-fields,json-members,callback-body,signing-keys,verified}.ts',
      ],
      ['src/**/verify/**/signed-fields.ts', 'test/{rules/{colons,signed-fields},threats/replays}.test.ts'],
      [
        'src/**/verify/**/{json-members,callback-body}.ts',
        'test/{amounts,vectors,threats/{body-cost,hostile-input,json-names,live-bodies,polluted-prototypes}}.test.ts',
      ],
      [
        'src/**/verify/**/{signing-keys,digest.node}.ts',
        'test/{rules/{refusals,signed-fields,signing-keys,signature-header},threats/{replays,timing}}.test.ts',
      ],
      [
        'src/**/verify/**/verified.ts',
        [
          'test/{rules/{refusals,timestamp,unknown-values},amounts}.test.ts',
          'test/threats/{leaks,live-bodies,polluted-prototypes,replays,two-copies}.test.ts',
        ],
      ],
      ['src/**/verify/**/digest.portable.ts', 'test/{vectors,threats/timing}.portable.test.ts'],
    ],
    target: 95,
    isExplained: true,
  },
  {
    name: 'redirect',
    package: CORE,
    runs: [
      ['src/**/verify/redirect-query.ts', 'test/{rules/redirect-queries,threats/redirect-cost}.test.ts'],
    ],
    target: 95,
    isExplained: true,
  },
  {
    name: 'amounts',
    package: CORE,
    runs: [['src/**/{amounts,decimal}.ts', 'test/{amounts,decimal}.test.ts']],
    target: 95,
    isExplained: true,
  },
  {
    name: 'verdict',
    package: INBOX,
    runs: [['src/**/verdict/evaluate.ts', 'test/evaluation.test.ts']],
    target: 95,
    isExplained: true,
  },
  {
    name: 'seam',
    package: CORE,
    runs: [
      [
        'src/**/receive/**/*.ts',
        'test/{receive/*,threats/{body-cost,callable-promises}}.test.ts',
        'src/**/receive/{node,web}.ts',
      ],
      [
        // The request objects of Node and the web platform are covered by the adapters' tests, on real sockets.
        'src/**/receive/{node,web}.ts',
        [
          'test/receive/bodies.test.ts',
          '../express/test/conformance.test.ts',
          '../fetch/test/{hono,request}*.test.ts',
        ],
      ],
    ],
    target: 90,
    isExplained: true,
  },
  {
    name: 'client',
    package: CORE,
    runs: [
      [
        'src/**/client/**/*.ts',
        'test/{client/**/*,eligible-banks,eligible-providers,payout-balance}.test.ts',
      ],
    ],
    target: 85,
    isExplained: false,
  },
  {
    name: 'inbox',
    package: INBOX,
    // Each folder with the tests that cover it closely.
    runs: [
      [
        'src/intake/*.ts',
        [
          'test/{intake/{hostile-cost,lock-waits,outage,spool},store/migrations,waiting*}.test.ts',
          'test/contract/{archive,evidence,intake,personal-data,problems,statement}.test.ts',
        ],
      ],
      [
        'src/work/**/*.ts',
        [
          'test/{evaluation,options,store/postgres,waiting-for-a-worker}.test.ts',
          'test/contract/!(balances|prune|statement|views).test.ts',
        ],
        '**/evaluate.ts',
      ],
      [
        'src/{*,{operator,reconciliation}/*}.ts',
        [
          'test/{options,waiting,waiting-for-a-worker,words,intake/outage,reconciliation/read-statement,store/ready}.test.ts',
          'test/console/{all-pages,reconciling}.test.ts',
          'test/contract/!(amounts|clock|dispatch|starts).test.ts',
        ],
        '**/index.ts',
      ],
      [
        'src/store/{*,{postgres,sqlite}/*}.ts',
        [
          'test/{options,waiting-for-a-worker}.test.ts',
          'test/store/{lost-server,migrations,pipeline,postgres,ready,sqlite}.test.ts',
          'test/contract/{attempts,starts,stored-values,transaction}.test.ts',
        ],
        '**/sqlite-thread.ts', // Faults are not planted in other threads.
      ],
    ],
    target: 85,
    isExplained: false,
    share: 0.06,
  },
  {
    name: 'console',
    package: INBOX,
    runs: [['src/console/**/*.ts', 'test/console/!(browser|volume).test.ts']],
    target: 85,
    isExplained: false,
    share: 0.15,
  },
  CONTRACT,
];

/**
 * The control: the same faults, judged by tests that never reach them. A program that reports one of them as found would be
 * wrong.
 */
export const CONTROL: Part = {
  name: 'control',
  package: CORE,
  runs: [['src/**/verify/signature.ts', 'test/near-name.test.ts']],
  target: 0,
  isExplained: false,
  share: 0.1,
};

import { judge, type Result } from '@payment-service/durability';

/** What one entry costs its users. */
export interface Footprint {
  readonly name: string;
  /** With all dependencies. */
  readonly installedBytes: number;
  readonly packages: number;
  /** Processor time, without Node's own start. */
  readonly importMs: number;
  /** The size of a bundle that uses one export, minified for Node. */
  readonly bytes: number;
  readonly gzipped: number;
  /** The size of the minified bundle for browsers; undefined for a peer that needs Node. */
  readonly browserBytes?: number | undefined;
}

type Measure = Exclude<keyof Footprint, 'name' | 'browserBytes'>;
type Budget = Readonly<Record<Exclude<Measure, 'importMs'>, number>> & {
  /** Relative to stripe's import in the same run, since milliseconds describe the machine. */
  readonly importOverStripe: number;
};

const KIB = 1024;
const ADAPTER: Budget = {
  installedBytes: 720 * KIB,
  packages: 2,
  importOverStripe: 0.3,
  bytes: 27 * KIB,
  gzipped: 11.25 * KIB,
};

function eachAdapter<T>(value: T): Record<string, T> {
  return { express: value, fastify: value, fetch: value, koa: value };
}

/** About a tenth above the measurements when they were set. */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  core: { ...ADAPTER, packages: 1, bytes: 16 * KIB, gzipped: 7 * KIB },
  'core/client': { ...ADAPTER, packages: 1, importOverStripe: 0.2, bytes: 32 * KIB, gzipped: 13 * KIB },
  ...eachAdapter(ADAPTER),
};

/** The peers that do the same work: verifies, calls an API, or mounts a route. */
const SAME_WORK: Readonly<Record<string, readonly string[]>> = {
  core: ['stripe', 'svix', 'standardwebhooks', '@octokit/webhooks-methods'],
  'core/client': ['stripe'],
  ...eachAdapter(['@octokit/webhooks']),
};

const RULES =
  'core also has rules for bodies, redirects and amounts, and a message for each refusal; the peer compares one signature over the whole body';
const CRYPTO =
  'loading node:crypto takes about 5 ms; the peer hashes in JavaScript, and takes three times as long for each callback';
const MORE_CODE = 'both load node:crypto; core has more code, for the reasons of the bundle';
const PORTABLE =
  'the client, the explanations and a second digest are in the package, and each file in ESM, in CommonJS and with declarations';
const ROUTE =
  'an adapter limits the size of a body, before and after decompression, and includes the verifier with its messages; the peer has no size limit';

/** Why a peer is lighter: by measure, and by peer if the reasons differ. */
const REASONS: Readonly<Record<string, string>> = {
  bytes: RULES,
  gzipped: RULES,
  installedBytes: PORTABLE,
  importMs: CRYPTO,
  'importMs @octokit/webhooks-methods': MORE_CODE,
  'importMs @octokit/webhooks': MORE_CODE,
  'bytes @octokit/webhooks': ROUTE,
  'gzipped @octokit/webhooks': ROUTE,
};

/** Imports that differ by less count as equal, on any machine. */
const IMPORT_TOLERANCE_MS = 1;

export interface Lighter {
  readonly name: string;
  readonly peer: string;
  readonly measure: Measure;
  readonly own: number;
  readonly theirs: number;
  readonly why: string | undefined;
}

export function budgetResults(
  footprints: readonly Footprint[],
  budgets: Readonly<Record<string, Budget>>,
): readonly Result[] {
  const stripe = find(footprints, 'stripe');
  return Object.entries(budgets).flatMap(([name, budget]) => {
    const one = find(footprints, name);
    const result = (what: string, unit: Result['unit'], value: number, atMost: number): Result =>
      judge(`${name}: ${what}`, unit, value, 'at most', atMost);
    return [
      result('installed', 'bytes', one.installedBytes, budget.installedBytes),
      result('packages', 'packages', one.packages, budget.packages),
      result('cold import over stripe', 'ratio', one.importMs / stripe.importMs, budget.importOverStripe),
      result('bundle', 'bytes', one.bytes, budget.bytes),
      result('bundle, gzipped', 'bytes', one.gzipped, budget.gzipped),
    ];
  });
}

/** Every measure in which a peer that does the same work is lighter than our package. */
export function lighterPeers(
  footprints: readonly Footprint[],
  reasons: Readonly<Record<string, string>> = REASONS,
): readonly Lighter[] {
  const measures: readonly Measure[] = ['installedBytes', 'packages', 'importMs', 'bytes', 'gzipped'];
  return Object.entries(SAME_WORK).flatMap(([name, peers]) =>
    peers.flatMap((peer) => {
      const [own, theirs] = [find(footprints, name), find(footprints, peer)];
      return measures
        .filter((one) => own[one] - theirs[one] > (one === 'importMs' ? IMPORT_TOLERANCE_MS : 0))
        .map((measure) => {
          const why = reasons[`${measure} ${peer}`] ?? reasons[measure];
          return { name, peer, measure, own: own[measure], theirs: theirs[measure], why };
        });
    }),
  );
}

export function unexplained(lighter: readonly Lighter[]): readonly string[] {
  return lighter
    .filter(({ why }) => why === undefined)
    .map(({ name, peer, measure }) => `${name}: ${peer} is lighter (${measure}), and nothing says why`);
}

function find(footprints: readonly Footprint[], name: string): Footprint {
  const found = footprints.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} was not measured.`);
  return found;
}

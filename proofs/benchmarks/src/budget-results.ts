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
}

interface Budget {
  readonly installedBytes: number;
  readonly packages: number;
  readonly bytes: number;
  readonly gzipped: number;
  /** Relative to stripe's import in the same run, since milliseconds describe the machine. */
  readonly importOverStripe: number;
}

const KIB = 1024;
const ADAPTER: Budget = {
  installedBytes: 720 * KIB,
  packages: 2,
  importOverStripe: 0.3,
  bytes: 27 * KIB,
  gzipped: 11.25 * KIB,
};

/** About a tenth above the measurements when they were set. */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  core: { ...ADAPTER, packages: 1, bytes: 16 * KIB, gzipped: 7 * KIB },
  'core/client': { ...ADAPTER, packages: 1, importOverStripe: 0.2, bytes: 32 * KIB, gzipped: 13 * KIB },
  ...Object.fromEntries(['express', 'fastify', 'fetch', 'koa'].map((name) => [name, ADAPTER])),
};

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

function find(footprints: readonly Footprint[], name: string): Footprint {
  const found = footprints.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} was not measured.`);
  return found;
}

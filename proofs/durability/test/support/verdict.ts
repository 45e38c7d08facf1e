import { type Fault, judgeHistory, type Verdict } from '../../src/history/judge-history.ts';

const NONE = judgeHistory({ requests: [], effects: [], kept: new Set() });

/** The verdict on a run with 80 payments, for tests of the requirements. */
export function verdictOf(
  faults: Partial<Record<Fault, readonly string[]>>,
  figures: Partial<Verdict> = {},
): Verdict {
  return {
    ...NONE,
    requests: 200,
    acknowledgements: 180,
    bodies: 150,
    due: 80,
    appliedOnce: 80,
    ...figures,
    faults: { ...NONE.faults, ...faults },
  };
}

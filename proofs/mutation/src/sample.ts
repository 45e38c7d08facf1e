import { createHash } from 'node:crypto';

export interface Sample {
  /** The share of all faults, from 0 to 1. */
  readonly share: number;
  readonly seed: string;
}

/** Makes the same choice for the same seed, as long as the code is the same. */
export function isInSample(id: string, { share, seed }: Sample): boolean {
  return createHash('sha256').update(`${seed} ${id}`).digest().readUInt32BE() < share * 2 ** 32;
}

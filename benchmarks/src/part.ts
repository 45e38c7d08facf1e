import type { Result, Table } from '@payment-service/laboratory';

/** What every part of the benchmark is given. */
export interface Run {
  /** The folder of a project that has core, the adapters and the peers, as installed. */
  readonly project: string;
  /** The same packages without the condition `node`. */
  readonly portable: string;
  /** Everything once: it proves that the controls fail where they must, and its figures are noise. */
  readonly isShort: boolean;
  /** The start of a framework's name: measures only that one. */
  readonly only: string;
  /** Where it is 0, each part has a number of its own. */
  readonly rounds: number;
}

/** What a part has measured. */
export interface Part {
  readonly tables: readonly Table[];
  readonly results: readonly Result[];
}

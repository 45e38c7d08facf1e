import type { Result, Table } from '@payment-service/durability';

/** The input of every part of the benchmark. */
export interface Run {
  /** The folder of a project with core, the adapters and the peers, as installed. */
  readonly project: string;
  /** The same packages without the condition `node`. */
  readonly portable: string;
  readonly isShort: boolean;
  readonly only: string;
  /** 0 means that each part uses its own number. */
  readonly rounds: number;
}

/** The measurements of a part. */
export interface Part {
  readonly tables: readonly Table[];
  readonly results: readonly Result[];
}

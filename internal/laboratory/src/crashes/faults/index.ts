import { steppingClock } from './clock.ts';
import type { Fault, FaultParts } from './fault.ts';
import { fullDisk } from './full-disk.ts';
import { stall } from './stall.ts';
import { twoVersions } from './two-versions.ts';

/** What `--fault` names. */
export const RUN_FAULTS: Readonly<Record<string, (parts: FaultParts) => Promise<Fault>>> = {
  'full-disk': fullDisk,
  clock: steppingClock,
  stall,
  'two-versions': twoVersions,
};

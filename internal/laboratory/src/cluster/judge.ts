import { judgeLosses } from '../failovers/judge.ts';
import { spread } from '../measure/measure.ts';
import { judge, type Result, told } from '../measure/results.ts';
import type { ClusterOutcome } from './run.ts';

/** Longer than any sum of the waits in the configuration: more would be no automatic failover. */
const MAX_RECOVERY_MS = 120_000;

/** What the run has to show, and the control: if that loses nothing, the run would not have noticed a loss. */
export function judgeCluster(
  synchronous: ClusterOutcome,
  control: ClusterOutcome,
  failovers: number,
): readonly Result[] {
  const { rounds, recoveryMs } = synchronous;
  const moved = rounds.filter(({ from, to, underWay }) => from !== to && underWay > 0).length;
  return [
    judge('failovers to another node, with requests under way', 'failovers', moved, 'exactly', failovers),
    told('from the fault to the next acknowledged payment', 'ms', spread(recoveryMs)),
    judge('the longest of them', 'ms', Math.max(...recoveryMs), 'at most', MAX_RECOVERY_MS),
    ...judgeLosses(synchronous, control, failovers),
  ];
}

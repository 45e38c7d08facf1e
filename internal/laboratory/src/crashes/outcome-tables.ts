import { verdictTable } from '../history/results.ts';
import type { Table } from '../measure/tables.ts';
import type { Kill, Target } from './killer.ts';
import { PHASES, type Phase } from './phase-log.ts';
import type { CrashTestOutcome } from './run-crash-test.ts';

/** How many kills hit which process at which phase. */
export type KillTable = Readonly<Record<Target, Readonly<Record<Phase, number>>>>;

export function killTable(kills: readonly Kill[]): KillTable {
  const count = (target: Target): Record<Phase, number> => {
    const hits = { commit: 0, handler: 0, intake: 0, idle: 0 };
    for (const kill of kills) if (kill.target === target) hits[kill.phase] += 1;
    return hits;
  };
  return { receiver: count('receiver'), worker: count('worker'), server: count('server') };
}

export function outcomeTables(outcome: CrashTestOutcome): readonly Table[] {
  const { verdict, payments, kills, crashLooped, states, seconds } = outcome;
  const hit = Object.entries(killTable(kills));
  return [
    {
      title: `${kills.length} kills in ${seconds} s, by what they hit`,
      head: ['', ...PHASES, ''],
      rows: hit.map(([target, hits]) => [target, ...PHASES.map((phase) => String(hits[phase])), '']),
    },
    verdictTable(verdict, {
      'payments sent': payments,
      'sent back after three dead handlers': crashLooped,
      ...Object.fromEntries(Object.entries(states).map(([name, count]) => [`state ${name}`, count])),
    }),
  ];
}

import { expect, it } from 'vitest';
import { HandlerGate } from '../src/handler-gate.ts';
import { pause } from './support/until.ts';

it('a suspect runs alone: after those that run, and before those that come after it', async () => {
  const gate = new HandlerGate();
  const log: string[] = [];
  const run = async (name: string, isSuspect: boolean): Promise<void> => {
    const leave = await gate.enter(isSuspect);
    log.push(`+${name}`);
    await pause(5);
    log.push(`-${name}`);
    leave();
  };
  await Promise.all([run('a', false), run('b', false), run('S', true), run('c', false), run('T', true)]);
  expect(log).toEqual(['+a', '+b', '-a', '-b', '+S', '-S', '+c', '-c', '+T', '-T']);
});

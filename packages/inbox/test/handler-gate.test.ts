import { expect, it } from 'vitest';
import { HandlerGate } from '../src/handler-gate.ts';
import { pause } from './support/until.ts';

it('a suspect runs alone: after those that run, and before those that come after it', async () => {
  const gate = new HandlerGate();
  const log: string[] = [];
  const run = async (name: string, isSuspect: boolean): Promise<void> => {
    const leave = await gate.enter(isSuspect, new AbortController().signal);
    log.push(`+${name}`);
    await pause(5);
    log.push(`-${name}`);
    leave?.();
  };
  await Promise.all([run('a', false), run('b', false), run('S', true), run('c', false), run('T', true)]);
  expect(log).toEqual(['+a', '+b', '-a', '-b', '+S', '-S', '+c', '-c', '+T', '-T']);
});

it('who does not get in at once may let go of what it holds; nobody overtakes a suspect that waits', async () => {
  const gate = new HandlerGate();
  const { signal } = new AbortController();
  const leave = gate.tryEnter(false);
  expect(gate.tryEnter(true)).toBeUndefined();
  const suspect = gate.enter(true, signal);
  expect(gate.tryEnter(false)).toBeUndefined();
  leave?.();
  const leaveAlone = await suspect;
  expect(gate.tryEnter(false)).toBeUndefined();
  leaveAlone?.();
  expect(gate.tryEnter(true)).toBeTypeOf('function');
});

it('who gives up while waiting makes room for those behind', async () => {
  const gate = new HandlerGate();
  const { signal } = new AbortController();
  const stop = new AbortController();
  gate.tryEnter(false);
  const [suspect, behind] = [gate.enter(true, stop.signal), gate.enter(false, signal)];
  stop.abort();
  expect(await suspect).toBeUndefined();
  expect(await behind).toBeTypeOf('function');
  expect(await gate.enter(false, stop.signal)).toBeUndefined();
});

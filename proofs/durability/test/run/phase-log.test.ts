import { expect, test } from 'vitest';
import { type Phase, PhaseReader } from '../../src/merchant/phase-log.ts';

test('the phase log: the worst of what is under way counts', () => {
  const reader = new PhaseReader();
  expect(reader.phase).toBe('idle');
  reader.read('intake 1\nhandler a\n', ignore);
  expect(reader.phase).toBe('handler');
  reader.read('commit a\nhandler b\n', ignore);
  expect(reader.phase).toBe('commit');
  reader.read('idle a\nidle b\n', ignore);
  expect(reader.phase).toBe('intake');
  reader.forget();
  expect(reader.phase).toBe('idle');
});

test('the phase log: lines come in pieces, and are told once', () => {
  const reader = new PhaseReader();
  const told: Phase[] = [];
  for (const piece of ['hand', 'ler a\ncom', 'mit a', '\n', 'idle a\n'])
    reader.read(piece, (phase) => told.push(phase));
  expect(told).toEqual(['handler', 'commit', 'idle']);
});

test('the phase log: a line that means nothing is an error, not an idle process', () => {
  expect(() => new PhaseReader().read('handling a\n', ignore)).toThrow('a line that means nothing');
});

function ignore(): void {}

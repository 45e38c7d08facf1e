import { expect, test } from 'vitest';
import { hangGuard } from '../src/hang-guard.ts';

test('fails on a hang, and names what it waited for', async () => {
  const never = new Promise(() => undefined);
  await expect(hangGuard('an answer', never, 1)).rejects.toThrow('Hangs: still waiting for an answer.');
});

test('passes the result through', async () => {
  await expect(hangGuard('an answer', Promise.resolve(200))).resolves.toBe(200);
  await expect(hangGuard('an answer', Promise.reject(new Error('closed')))).rejects.toThrow('closed');
});

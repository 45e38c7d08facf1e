import { expect, test } from 'vitest';
import { ATTACKS } from './attacks.ts';
import { hosted } from './hostile-host.ts';
import { judge } from './judge.ts';
import { resist } from './resist.ts';

// For hundreds of requests and millions of bytes, on a busy machine.
const TIMEOUT = { timeout: 240_000 };

/**
 * Sends every hostile request to one server, and every heavy attack. `program` mounts the adapter with `serveHostile()` under
 * this name.
 */
export function testHostility(name: string, program: URL): void {
  testVerdicts(name, program);
  const title = `threat A18: ${name}: heavy hostile requests take less than 20 MB, and leave no socket and no stream`;
  test(title, TIMEOUT, () =>
    hosted(name, program, async (host) => {
      for (const attack of ATTACKS) {
        const [name, status] = attack;
        const resisted = await resist(host, attack, 60);
        const statuses = status === 0 ? [] : [status];
        if (resisted) expect(resisted, name).toEqual({ failure: undefined, statuses, brokenBounds: [] });
      }
    }),
  );
}

/** The first half: each hostile request. */
export function testVerdicts(name: string, program: URL): void {
  const title = `threat A18: ${name}: each hostile request gets the verdict that it gets everywhere`;
  test(title, TIMEOUT, async () => {
    const judged = await judge(name, program);
    expect(judged.length).toBeGreaterThan(400);
    expect(judged.filter(({ verdict, expected }) => verdict !== expected)).toEqual([]);
  });
}

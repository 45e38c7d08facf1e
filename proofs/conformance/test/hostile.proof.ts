import { expect, test } from 'vitest';
import { ATTACKS, type Attack } from '../src/hostile/attacks.ts';
import { hosted } from '../src/hostile/hostile-host.ts';
import { resist } from '../src/hostile/resist.ts';
import { testHostility } from '../src/index.ts';

const program = new URL('lenient-server.ts', import.meta.url);
const naive = new URL('../src/hostile/naive-server.ts', import.meta.url);

testHostility('node:http', program);

/** What an attack breaks in a new server that has little time to answer. */
async function broken(server: string, from: URL, attack: Attack): Promise<readonly string[]> {
  const resisted = await hosted(server, from, (host) => resist(host, attack, 1));
  return resisted?.brokenBounds ?? [];
}

for (const attack of ATTACKS) {
  const [name] = attack;
  test(`control: a receiver that collects bodies breaks a bound under ${name}`, async () => {
    const bounds = await broken('naive', naive, attack);
    expect(bounds).not.toEqual([]);
    expect(bounds.some((bound) => bound.includes('processed pieces'))).toBe(name.includes('pieces'));
    if (name === 'streams left open')
      // As where an adapter hides the version of HTTP (threat A43).
      expect(await broken('hides HTTP/2', program, attack)).toContain('100 streams left');
  });
}

import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { nodeProblem } from '../../src/command/failures.ts';

test.each(['18.20.8', '20.20.2', '21.7.3', '22.12.0'])(
  'the command names Node %s, which is too old, and the version that it needs',
  (version) => {
    expect(nodeProblem(version)).toContain(
      `This is Node ${version}, and the sandbox needs Node 22.13 or later.`,
    );
  },
);

test.each(['22.13.0', '22.22.1', '23.0.0', '24.21.0', '100.0.0', process.versions.node])(
  'the command runs on Node %s',
  (version) => expect(nodeProblem(version)).toBeUndefined(),
);

test('the version is the one of package.json', () => {
  expect(manifest.engines.node).toBe('>=22.13');
});

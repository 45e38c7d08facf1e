import { expect, it } from 'vitest';
import * as sandbox from '../src/index.ts';

// A new export is a reviewed line: it must be kept for years.
it('exports these names and no others', () => {
  expect(Object.keys(sandbox).sort()).toEqual(['SandboxRefusal', 'createSandbox', 'defaultProviders']);
});

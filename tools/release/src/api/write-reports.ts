// `pnpm api`: writes the reports that a reviewer accepts, and removes those of entries that no longer exist.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiReports } from './api-reports.ts';

const root = join(import.meta.dirname, '../../../..');
const reports = apiReports(root);
for (const stale of globSync('packages/*/api/*.api.md', { cwd: root })) rmSync(join(root, stale));
for (const { path, text } of reports) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
console.log(`Wrote ${reports.length} reports: review packages/*/api with git diff, then commit.`);

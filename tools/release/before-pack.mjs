// The `prepack` script of every published package. Only pnpm applies `publishConfig`: a tarball of another client has entries
// that point at sources that it does not contain. Every package carries the same rules for agents. JavaScript, so that a client on
// any Node can run it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const client = process.env.npm_config_user_agent ?? 'an unknown client';
const missing = targets(manifest.publishConfig).filter((path) => !existsSync(path));

if (!client.startsWith('pnpm/')) {
  refuse(
    `${manifest.name}: pack and publish with pnpm, not with ${client.split(' ')[0]}. Only pnpm applies publishConfig.`,
  );
}
if (missing.length > 0) {
  refuse(`${manifest.name}: ${missing.join(', ')} is missing. Run \`pnpm build\` first.`);
}
writeFileSync('AGENTS.md', readFileSync(new URL('published/AGENTS.md', import.meta.url)));

/** Every file that the published entries name. */
function targets(value) {
  if (typeof value === 'string') return value.startsWith('./dist/') ? [value] : [];
  return typeof value === 'object' && value !== null
    ? [...new Set(Object.values(value).flatMap(targets))]
    : [];
}

function refuse(message) {
  console.error(message);
  process.exit(1);
}

/**
 * `node trace.mjs [<program> [unnamed]]`: copies what a file tracer finds into traced/, and removes all that is installed. With
 * `unnamed`, the CommonJS entries do not name the modules beside them.
 */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [, , program, unnamed] = process.argv;
if (unnamed !== undefined) {
  const scope = 'node_modules/@payment-service';
  for (const path of await readdir(scope, { recursive: true })) {
    if (!path.endsWith('.cjs')) continue;
    const text = await readFile(join(scope, path), 'utf8');
    await writeFile(join(scope, path), text.replace(/^function moduleForTracers[\s\S]+/m, ''));
  }
}
if (program !== undefined) {
  const { nodeFileTrace } = (await import('@vercel/nft')).default;
  const { fileList } = await nodeFileTrace([program]);
  for (const path of fileList) await cp(path, join('traced', path));
}
await rm('node_modules', { recursive: true });

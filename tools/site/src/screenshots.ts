/** `pnpm screenshots`: writes the pictures of the documentation. */
import { fileURLToPath } from 'node:url';
import { takeScreenshots } from './take.ts';

const names = await takeScreenshots(fileURLToPath(new URL('../../../docs/pictures', import.meta.url)));
console.log(`Wrote ${names.length} pictures into docs/pictures: ${names.join(', ')}. Look at each of them.`);

import { checkPackage, Package } from '@arethetypeswrong/core';
import { type PackedFile, type PackedManifest, textOf } from '@payment-service/release/toolchains';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** The findings of publint, including suggestions. */
export async function publintMessages(files: readonly PackedFile[]): Promise<string[]> {
  const pack = { files: files.map(({ name, data }) => ({ name: `package/${name}`, data })) };
  const { messages, pkg } = await publint({ pkgDir: 'package', pack, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/**
 * The findings of "are the types wrong?" for every entry point, for `import` and `require` under TypeScript's node16 and
 * bundler resolution, and for the types under that of Node 10. Node itself reads `exports`, so there need be no JavaScript
 * where the resolution of Node 10 looks for a subpath.
 */
export async function typeProblems(
  manifest: PackedManifest,
  files: readonly PackedFile[],
): Promise<string[]> {
  const paths = files.map((file) => [`/node_modules/${manifest.name}/${file.name}`, textOf(file)]);
  const result = await checkPackage(new Package(Object.fromEntries(paths), manifest.name, '0.0.0'));
  if (result.types === false) return ['no types'];
  return result.problems.map((problem) => JSON.stringify(problem));
}

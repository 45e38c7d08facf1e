import { packPackage, pnpm, publishedPackages, root } from '@payment-service/release/toolchains';

/** Packs every published package into a folder. */
export async function packPublished(destination: string): Promise<void> {
  // Turbo has already built the packages. Without turbo they are built here, so that no test runs an old build.
  if (process.env['TURBO_HASH'] === undefined)
    await pnpm(root, '--filter', '@payment-service/release^...', 'build');
  await Promise.all(publishedPackages().map(({ folder }) => packPackage(folder, destination)));
}

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from '@publint/pack';

/** The parts of a published package.json that these tests look at. */
export interface PackedManifest {
  readonly name: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface PackedFile {
  /** The path inside the package, such as `dist/index.js`. */
  readonly name: string;
  readonly data: Uint8Array;
}

/** One tarball as a registry would receive it, and its contents. */
export interface PackedPackage {
  readonly manifest: PackedManifest;
  readonly files: readonly PackedFile[];
}

/** The tarballs below a folder, unpacked in memory. */
export function readTarballs(folder: string): Promise<readonly PackedPackage[]> {
  const paths = globSync('**/*.tgz', { cwd: folder }).sort();
  return Promise.all(paths.map((path) => readPackedPackage(join(folder, path))));
}

async function readPackedPackage(path: string): Promise<PackedPackage> {
  const unpacked = await unpack(new Uint8Array(await readFile(path)).buffer);
  const files = unpacked.files.map(({ name, data }) => ({
    name: name.slice(unpacked.rootDir.length + 1),
    data,
  }));
  const manifest = files.find(({ name }) => name === 'package.json');
  if (manifest === undefined) throw new Error(`${path} holds no package.json`);
  return { manifest: JSON.parse(textOf(manifest)) as PackedManifest, files };
}

export function textOf(file: PackedFile): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(file.data);
}

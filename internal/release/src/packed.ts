import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpack } from '@publint/pack';

/** A tarball as a registry would get it. Sizes are bytes. */
export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly packedBytes: number;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

const PNPM = join(import.meta.dirname, '../../pnpm/pnpm.mjs');

/**
 * Runs the pnpm that started this program.
 *
 * @returns what it wrote to stdout.
 * @throws {Error} with its output, when it fails.
 */
export function pnpm(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PNPM, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} in ${cwd} failed:\n${stdout}${stderr}`);
  return stdout;
}

/**
 * Packs a built package with `pnpm pack`, which applies `publishConfig`, and lists the tarball.
 *
 * @throws {Error} when the package is not built.
 */
export async function packPackage(folder: string, destination: string): Promise<Packed> {
  // Scripts such as `prepack` may print before the result.
  const output = pnpm(folder, ['pack', '--json', '--pack-destination', destination]);
  const result: { name: string; version: string; filename: string } = JSON.parse(
    output.slice(output.indexOf('{\n')),
  );
  const tarball = readFileSync(result.filename);
  const { files, rootDir } = await unpack(new Uint8Array(tarball).buffer);
  return {
    name: result.name,
    version: result.version,
    packedBytes: tarball.length,
    files: files
      .map(({ name, data }) => ({ path: name.slice(rootDir.length + 1), bytes: data.length }))
      .sort((left, right) => (left.path < right.path ? -1 : 1)),
  };
}

/** One package of a release as lines: its name, versions, sizes and every file. */
export function releaseLines(packed: Packed, previousVersion: string): readonly string[] {
  const { name, version, packedBytes, files } = packed;
  if (version === previousVersion) return [`${name} ${version}: no changeset, not published`];
  const unpacked = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    `${name} ${previousVersion} → ${version}: ${files.length} files, ${kB(packedBytes)} packed, ${kB(unpacked)} unpacked`,
    ...files.map(({ path, bytes }) => `${kB(bytes).padStart(12)}  ${path}`),
  ];
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

import { dirname } from 'node:path';
import { filesMatching } from './repository.ts';

type Names = Readonly<Record<string, string>>;

/** The members of a package.json that the rules read. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly bin?: Names;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Names;
  readonly devDependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
}

/** A package of the workspace; `folder` is from the root, `''` for the root itself. */
export interface WorkspacePackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

export const adapters: readonly string[] = ['express', 'fastify', 'koa', 'fetch'];

/** Every package of the repository, the root first. */
export function workspacePackages(): readonly WorkspacePackage[] {
  return filesMatching('package.json', '**/package.json')
    .map(({ path, text }) => ({
      folder: dirname(path).replace(/^\.$/, ''),
      manifest: JSON.parse(text) as Manifest,
    }))
    .sort((left, right) => (left.folder < right.folder ? -1 : 1));
}

export function publishedPackages(): readonly WorkspacePackage[] {
  return workspacePackages().filter(({ manifest }) => manifest.private !== true);
}

export {
  type Installed,
  installPacked,
  type PackedFile,
  type PackedManifest,
  type PackedPackage,
  type Published,
  packPackage,
  pnpm,
  publishedPackages,
  readManifest,
  readTarballs,
  root,
  textOf,
  withManifest,
} from './packages.ts';
export {
  type Command,
  type Ended,
  execute,
  finish,
  lastLines,
  type Running,
  run,
  sideBySide,
  start,
  until,
} from './run.ts';
export { typescript5, type UserNode, userNodes } from './toolchains.ts';

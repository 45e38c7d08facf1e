import type { PackedManifest, UserNode } from '@payment-service/release/toolchains';

/** Whether a package states that it runs on this Node: `engines.node` is always `>=major.minor` here. */
export function supports({ name, engines }: PackedManifest, { version }: UserNode): boolean {
  const least = /^>=(\d+)\.(\d+)$/.exec(engines?.['node'] ?? '');
  if (least === null) throw new Error(`${name}: engines.node is not of the form >=major.minor`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > Number(least[1]) || (major === Number(least[1]) && minor >= Number(least[2]));
}

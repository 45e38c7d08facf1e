import { ASSETS, type AssetName, readAsset } from './assets.ts';

const isAssetName = (name: string): name is AssetName => Object.hasOwn(ASSETS, name);

/** A style sheet, a script or the icon; undefined for any other name. */
export async function assetResponse(name: string): Promise<Response | undefined> {
  if (!isAssetName(name)) return undefined;
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  return new Response(await readAsset(name), { headers: { ...headers, 'content-type': ASSETS[name] } });
}

import { ASSETS, type AssetName, readAsset } from './assets.ts';

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(ASSETS, name);

/** A style sheet, a script or the icon. */
export const assetResponse = async (name: AssetName): Promise<Response> =>
  new Response(await readAsset(name), {
    headers: {
      'content-type': ASSETS[name],
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });

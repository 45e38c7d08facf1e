import { ASSETS, type AssetName, readAsset } from '@payment-service/pages';

export function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSETS, name);
}

/** A style sheet, a script or the icon. */
export async function assetResponse(name: AssetName): Promise<Response> {
  return new Response(await readAsset(name), {
    headers: {
      'content-type': ASSETS[name],
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}

import imported from 'openapi-fetch';

type CreateApi = typeof imported;

/**
 * `createClient` of openapi-fetch. The CommonJS build requires it, which gives the whole module where an import gives
 * its default export.
 */
export const createApi: CreateApi = /* @__PURE__ */ defaultExport(imported);

function defaultExport(module: CreateApi | { readonly default: CreateApi }): CreateApi {
  return typeof module === 'function' ? module : module.default;
}

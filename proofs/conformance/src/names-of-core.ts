import * as core from '@payment-service/core';

const MODULE = '\0names of core';

interface BuildPlugin {
  readonly name: string;
  readonly resolveId: {
    readonly order: 'pre';
    readonly handler: (id: string, importer?: string) => string | undefined;
  };
  readonly load: (id: string) => string | undefined;
}

/**
 * For the build of an adapter: `export * from '@payment-service/core'` becomes the list of these names, from the file that the
 * adapter loads anyway. Otherwise Node would load core's main entry, a file that only re-exports them.
 */
export const namesOfCore: BuildPlugin = {
  name: 'names-of-core',
  resolveId: {
    order: 'pre', // Before the dependency is marked as external.
    // Not in declarations, which name the public entry.
    handler: (id, importer = '') =>
      id === '@payment-service/core' && /[\\/]src[\\/]index\.ts$/.test(importer) ? MODULE : undefined,
  },
  load: (id) =>
    id === MODULE
      ? `export { ${Object.keys(core).join(', ')} } from '@payment-service/core/internal';`
      : undefined,
};

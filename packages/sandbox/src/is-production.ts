export function isProduction(): boolean {
  try {
    return globalThis.process?.env['NODE_ENV'] === 'production';
  } catch {
    // Deno without the permission to read the environment: there is no variable to go by.
    return false;
  }
}

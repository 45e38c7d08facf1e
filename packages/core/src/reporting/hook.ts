/**
 * Calls a hook, which reports and decides nothing: its own error, a rejection included, goes to `onFailure` and changes no
 * result.
 */
export function runHook(hook: () => unknown, onFailure: (error: unknown) => void): void {
  const run = async (): Promise<unknown> => hook();
  void run().catch(onFailure);
}

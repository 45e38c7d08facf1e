/**
 * Calls a hook, which reports and decides nothing. Its error, including a rejection, goes to `onFailure` and does not change the
 * result.
 */
export function runHook(hook: () => unknown, onFailure: (error: unknown) => void): void {
  const run = async (): Promise<unknown> => hook();
  void run().catch(onFailure);
}

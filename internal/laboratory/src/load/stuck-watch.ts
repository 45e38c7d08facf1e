/** As long as a run may stand still: far longer than any outage of its own making. */
const STUCK_MS = 120_000;

/** Throws when what it is shown stays the same for too long. */
export function stuckWatch(): (state: string) => void {
  let last = '';
  let since = performance.now();
  return (state) => {
    if (state !== last) {
      last = state;
      since = performance.now();
    } else if (performance.now() - since > STUCK_MS) {
      throw new Error(`Nothing has moved for ${STUCK_MS / 1000} s: ${state}`);
    }
  };
}

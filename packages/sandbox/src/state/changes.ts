/** What live pages follow: which version of the state they show, and when there is a newer one. */
export interface Changes {
  /** Grows with every write, and from one start to the next. */
  readonly version: number;
  /** Aborted when the sandbox closes; from then on no listener is called. */
  readonly ended: AbortSignal;
  /** Calls the listener after every write, until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/** The feed, and the two ends that only the sandbox itself holds. */
export interface ChangeFeed extends Changes {
  announce(): void;
  end(): void;
}

/** `now` is the first version: a page of an earlier start must not look new. */
export function createChangeFeed(now: number, onError: (error: unknown) => void): ChangeFeed {
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  let version = now;
  return {
    get version() {
      return version;
    },
    ended: ending.signal,
    subscribe: (listener) => {
      if (!ending.signal.aborted) listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce: () => {
      version += 1;
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          // The write itself has succeeded.
          onError(error);
        }
      }
    },
    end: () => {
      listeners.clear();
      ending.abort();
    },
  };
}

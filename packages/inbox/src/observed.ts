const LISTENERS: ReadonlySet<unknown> = new Set(['then', 'catch', 'finally']);

/**
 * The promise for somebody who may forget it: `onListener` is called when they wait for it. A rejection that nobody
 * listens to ends no process.
 */
export function observed<T>(promise: Promise<T>, onListener: () => void): Promise<T> {
  promise.catch(() => undefined);
  return new Proxy(promise, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || !LISTENERS.has(name)) return member;
      onListener();
      return member.bind(target);
    },
  });
}

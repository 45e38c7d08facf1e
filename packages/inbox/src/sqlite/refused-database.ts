/**
 * A misconfiguration that a thread has found; the other side makes a ConfigurationError of it. The threads import
 * nothing of core, which would cost each of them the time to load it.
 */
export class RefusedDatabase extends Error {
  readonly option: string;

  constructor(option: string, message: string) {
    super(message);
    this.name = 'RefusedDatabase';
    this.option = option;
  }
}

import { type Fault, faultOf, type Input, type Subject, secondVerdict } from './subject.ts';

/** Reduces an input to what its fault needs: removes pieces, long ones first, as long as the fault remains. */
export function minimise(subject: Subject, input: Input, fault: Fault): Input {
  const remains = (candidate: Input): boolean => {
    subject.second.forget();
    return faultOf(subject.core, candidate, secondVerdict(subject, candidate)) === fault;
  };
  let least = input;
  for (const part of ['query', 'signature', 'body']) {
    const whole: unknown = Reflect.get(least, part);
    if (typeof whole !== 'string' && !(whole instanceof Uint8Array)) continue;
    const others = least;
    const withPart = (changed: unknown): Input => ({ ...others, [part]: changed });
    least = withPart(shorten(whole, (shorter) => remains(withPart(shorter))));
  }
  return least;
}

function shorten<T extends string | Uint8Array>(whole: T, remains: (shorter: T) => boolean): T {
  let least = whole;
  for (let length = whole.length; length > 1; ) {
    length = Math.ceil(length / 2);
    for (let at = 0; at < least.length; ) {
      const shorter = cut(least, at, length);
      if (remains(shorter)) least = shorter;
      else at += length;
    }
  }
  return least;
}

function cut<T extends string | Uint8Array>(whole: T, at: number, length: number): T {
  const rest =
    typeof whole === 'string'
      ? whole.slice(0, at) + whole.slice(at + length)
      : whole.filter((_, index) => index < at || index >= at + length);
  return rest as T;
}

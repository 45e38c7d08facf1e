import { kindOf } from '../options/value-kind.ts';
import { ownValue } from './callback-body.ts';

/** What a body is that is no callback, by how its text begins. */
const TEXTS: readonly (readonly [form: RegExp, what: string])[] = [
  [/^(..)?({\0|\0{)/, 'UTF-16'],
  [/^\s*"/, 'a JSON string'],
  [/^e[w-z\d][\w+/-]+=*$/, 'Base64'],
  [/^[\w.%[\]-]+=/, 'a form'],
];

/** The hint for what was passed in the place of a body. Undefined for JSON that is no callback. */
export function malformedBody(body: unknown): string | undefined {
  const text = ArrayBuffer.isView(body)
    ? new TextDecoder('latin1').decode(body as Uint8Array<ArrayBuffer>)
    : body;
  let what: string | undefined;
  if (typeof text === 'string') what = TEXTS.find(([form]) => form.test(text))?.[1];
  else if (kindOf(text) !== 'an Object') return `The body is ${kindOf(text)}.`;
  else if (ownValue(text as object, 'type') === 'Buffer') what = 'a Buffer as JSON';
  else if (typeof ownValue(text as object, 'body') === 'string') what = 'an event';
  return what && `The body is ${what}. Pass the JSON in it.`;
}

/** The bytes of an ArrayBuffer, shared or not, of any realm: what `await request.arrayBuffer()` returns. */
export function viewOf(body: unknown): Uint8Array | undefined {
  return kindOf(body).endsWith('ArrayBuffer') ? new Uint8Array(body as ArrayBuffer).slice() : undefined;
}

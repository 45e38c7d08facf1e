import file from '@payment-service/openapi/signature-vectors.json' with { type: 'json' };
import { expectedVerdict, faultOf, fromVector, type NamedVector, subject } from './subject.ts';

/** The vectors on which core's verdict is not the expected one. This program is bundled with either digest, for any runtime. */
export function wrongVectors(): readonly string[] {
  // The tests of core ensure the shape of the file.
  const vectors = file.vectors as readonly unknown[] as readonly NamedVector[];
  return vectors.flatMap((vector) => {
    const fault = faultOf(subject(vector.options), fromVector(vector), expectedVerdict(vector));
    return fault === undefined ? [] : [`${vector.name}: ${fault}`];
  });
}

/** The entry for `workerd test`; the other runtimes call it. */
const worker: { test(): void } = {
  test: () => console.log(JSON.stringify({ wrong: wrongVectors() })),
};
export default worker;

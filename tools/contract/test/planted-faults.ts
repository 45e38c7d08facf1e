import type { OpenAPI3 } from 'openapi-typescript';
import { generatedTypes } from '../generate.ts';
import { contractFaults } from './contract-faults.ts';
import { factsOf } from './facts.ts';

/**
 * Plants every fault of a contract. A survivor is refused by no check of the facts, and changes no type.
 *
 * @param every The types of one of so many contracts that no check refuses are generated, which takes long.
 * @param first Of these, the first one whose types are generated.
 */
export async function plantFaults(
  contract: OpenAPI3,
  every = 1,
  first = 0,
): Promise<{ readonly planted: number; readonly survivors: readonly string[] }> {
  const types = await generatedTypes(structuredClone(contract));
  const survivors: string[] = [];
  let [planted, accepted] = [0, 0];
  for (const { code, contract: changed } of contractFaults(contract)) {
    planted += 1;
    if (isRefused(structuredClone(changed))) continue;
    accepted += 1;
    if (accepted % every !== first) continue;
    const changedTypes = await generatedTypes(structuredClone(changed) as OpenAPI3).catch(() => '');
    if (changedTypes === types) survivors.push(code);
  }
  return { planted, survivors };
}

/** Whether a check of the facts fails. */
function isRefused(changed: unknown): boolean {
  try {
    for (const [, check] of factsOf(changed)) check();
    return false;
  } catch {
    return true;
  }
}

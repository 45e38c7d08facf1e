import { basename } from 'node:path';

interface Tried {
  readonly fileName: string;
  readonly location: { readonly start: { readonly line: number } };
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
}

/** A reporter for Stryker that names survivors immediately, so that a run that is ended early has shown them. */
class SurvivorReporter {
  onMutantTested({ fileName, location, mutatorName, replacement = '', status }: Tried): void {
    if (!['Survived', 'NoCoverage', 'Timeout'].includes(status)) return;
    const change = replacement.replace(/\s+/g, ' ').slice(0, 100);
    console.log(`${status}: ${basename(fileName)}:${location.start.line} ${mutatorName} → ${change}`);
  }
}

export const strykerPlugins: readonly object[] = [
  { kind: 'Reporter', name: 'survivors', injectableClass: SurvivorReporter },
];

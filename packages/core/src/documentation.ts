import manifest from '../package.json' with { type: 'json' };

/** The pages and sections that messages lead to. A test of the documents checks that each exists. */
const SECTIONS = {
  option: 'troubleshooting.md#the-program-does-not-start',
  delivery: 'troubleshooting.md#no-callback-arrives',
  refusal: 'guide/refused.md',
} as const;

/** The address of a section on the web. The repository is the one that package.json names. */
export function documentation(subject: keyof typeof SECTIONS): string {
  const [repository] = manifest.homepage.split('/tree/');
  return `${repository}/blob/main/docs/${SECTIONS[subject]}`;
}

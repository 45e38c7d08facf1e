import { testAccessibility } from './accessibility.ts';

// accessibility.proof.ts runs axe on every page.
testAccessibility('the pages with every part');

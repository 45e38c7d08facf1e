import { testAccessibility } from './accessibility.ts';

testAccessibility('every page');

import { testNewcomers } from './newcomers.ts';

testNewcomers();

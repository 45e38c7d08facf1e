import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const style = readFileSync(new URL('../src/browser/style.css', import.meta.url), 'utf8');

test('every colour, font size and space of the pages is a variable', () => {
  expect(literalsOf(style)).toEqual([]);
});

test('every variable is defined and used', () => {
  expect([...namesOf(style, /var\((--[\w-]+)/g)].sort()).toEqual([...namesOf(style, /(--[\w-]+):/g)].sort());
});

test('control: a literal colour, font size or space is found', () => {
  const faults = [
    'color: #123456',
    'background: rgb(0 0 0)',
    'font-size: 13px',
    'gap: 0.3rem',
    'margin: 0 3px',
  ];
  expect(literalsOf(faults.map((fault) => `p { ${fault}; }`).join('\n'))).toEqual(faults);
});

/** The declarations with a literal value, outside the definitions of the variables. */
function literalsOf(css: string): string[] {
  const rules = css.replace(/\/\*.*?\*\/|:root\s*\{[^}]*\}/gs, '');
  return [...rules.matchAll(/([\w-]+):\s*([^;{}]+);/g)]
    .filter(([, property = '', value = '']) => {
      const isSize = /^(?:font-size|gap|margin|padding)/.test(property);
      return isSize ? /[1-9.]\d*(?:rem|em|px)/.test(value) : /#[\da-f]{3,8}\b|\b(?:rgb|hsl)a?\(/i.test(value);
    })
    .map(([declaration]) => declaration.slice(0, -1));
}

function namesOf(css: string, pattern: RegExp): Set<string> {
  return new Set([...css.matchAll(pattern)].map(([, name = '']) => name));
}

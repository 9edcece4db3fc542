import { expect, it } from 'vitest';
import { textWidth } from './text-width.ts';

it.each([
  ['abc', 3],
  ['é', 1],
  ['naïve Straße', 12],
  ['a\u00adb\u0085', 2],
  ['e\u0301', 1],
  ['水', 2],
  ['ｱ', 1],
  ['Ａ', 2],
  ['한국', 4],
  ['👍🏽', 2],
  ['👩‍👩‍👧', 2],
  ['🇫🇷', 2],
  ['❤️', 2],
  ['\u200b', 0],
  ['שלום', 4],
])('takes the columns of a fixed-width font: %j', (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { toCleanLine, toCleanLines } from '../mcp/clean.ts';
import { cleanOneLine, cleanText } from './read-page.ts';

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['cleanText', cleanText],
  ['oneLine', cleanOneLine],
  ['cleanLine', (text) => toCleanLine(text, 500)],
  ['cleanLines', toCleanLines],
];

describe('parsing text from pages and servers', () => {
  it.each(RECOGNIZERS)('[D13] terminates for any repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});

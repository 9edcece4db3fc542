import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanLines } from '../mcp/clean.ts';
import { cleanOneLine, cleanText } from './read-page.ts';

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['cleanText', cleanText],
  ['oneLine', cleanOneLine],
  ['cleanLine', (text) => cleanLine(text, 500)],
  ['cleanLines', cleanLines],
];

describe('reading pages and servers', () => {
  it.each(RECOGNIZERS)('[D13] terminates for any repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});

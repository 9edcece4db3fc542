import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { completeMarkdown } from './unfinished.ts';

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['completed', completeMarkdown],
];

describe('an answer that is still being written', () => {
  it.each(RECOGNIZERS)('[D13] finishes with any repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});

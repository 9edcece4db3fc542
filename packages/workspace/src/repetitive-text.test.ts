import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { listOwnerIdentifiers, splitOwnerText } from './owner-sections.ts';
import { createPromptFiles } from './prompt-files.ts';

const FILES = createPromptFiles(['AGENTS.md', 'skills/']);

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['ownersMarks', (text) => listOwnerIdentifiers(`name: ${text}`)],
  ['splitOwners', (text) => splitOwnerText(text, ['Ann', 'a.b'])],
  ['createPromptFiles', (text) => FILES.includes(text)],
];

describe('reading workspace files', () => {
  it.each(RECOGNIZERS)('[D13] finishes quickly with repetitive text: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});

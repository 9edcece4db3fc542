import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { parseSummaryNotes } from '../context/summary.ts';
import { parsePromptArguments, parsePromptCommand } from '../mcp/mcp-prompts.ts';
import { findTrigger, getAuthoredText } from '../memory/memory-triggers.ts';
import { findUrls } from '../tools/web-tools.ts';
import {
  canBecomeSilentToken,
  containsSilentToken,
  removeLeadingToken,
  removeTrailingToken,
} from './silent-token.ts';
import { getVisibleAnswer } from './visible-text.ts';

const ARGUMENTS = [{ name: 'a', required: false }];

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['visibleText', (text) => getVisibleAnswer(text, { current: '1', known: new Set() })],
  ['holdsToken', containsSilentToken],
  ['mayBecomeWhole', canBecomeSilentToken],
  ['withoutFirstToken', removeLeadingToken],
  ['withoutLastToken', removeTrailingToken],
  ['ownText', (text) => getAuthoredText(text)],
  // Production code searches for a trigger only in the last 8,000 characters.
  ['triggerIn', (text) => findTrigger(text.slice(-8_000))],
  ['addressesIn', (text) => findUrls([text])],
  ['readNotes', (text) => parseSummaryNotes(text, 1_000)],
  ['parsePromptCommand', (text) => parsePromptCommand(`/mcp__a__b ${text}`)],
  [
    'promptArguments',
    (text) => parsePromptArguments({ name: 'p', description: '', arguments: ARGUMENTS }, text),
  ],
];

describe('parsing text from people and models', () => {
  it.each(RECOGNIZERS)('[D13] parses any repetitive text in bounded time: %s', (_name, read) => {
    expect(findSlowText(read)).toBeUndefined();
  });
});

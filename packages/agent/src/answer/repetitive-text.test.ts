import { findSlowText } from '@parley/core/testing/repetitive-texts';
import { describe, expect, it } from 'vitest';
import { readNotes } from '../context/summary.ts';
import { parsePromptCommand, promptArguments } from '../mcp/mcp-prompts.ts';
import { ownText, triggerIn } from '../memory/memory-triggers.ts';
import { addressesIn } from '../tools/web-tools.ts';
import { holdsToken, mayBecomeWhole, withoutFirstToken, withoutLastToken } from './silent-token.ts';
import { visibleText } from './visible-text.ts';

const ARGUMENTS = [{ name: 'a', required: false }];

const RECOGNIZERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['visibleText', (text) => visibleText(text, { current: '1', known: new Set() })],
  ['holdsToken', holdsToken],
  ['mayBecomeWhole', mayBecomeWhole],
  ['withoutFirstToken', withoutFirstToken],
  ['withoutLastToken', withoutLastToken],
  ['ownText', (text) => ownText(text)],
  // A sentence is taken from a text of at most 8,000 characters.
  ['triggerIn', (text) => triggerIn(text.slice(-8_000))],
  ['addressesIn', (text) => addressesIn([text])],
  ['readNotes', (text) => readNotes(text, 1_000)],
  ['parsePromptCommand', (text) => parsePromptCommand(`/mcp__a__b ${text}`)],
  [
    'promptArguments',
    (text) => promptArguments({ name: 'p', description: '', arguments: ARGUMENTS }, text),
  ],
];

describe('text by people and models that the agent parses', () => {
  it.each(RECOGNIZERS)(
    '[D13] is parsed in bounded time for any repetitive text: %s',
    (_name, read) => {
      expect(findSlowText(read)).toBeUndefined();
    },
  );
});

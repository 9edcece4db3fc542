import { describe, expect, it } from 'vitest';
import type { ConversationEntry } from './conversation.ts';
import { findStopMarks } from './stop-marks.ts';

const COMMANDS = [{ name: 'stop', summary: '' }];
const mine = (id: string, text: string): ConversationEntry => {
  return { kind: 'mine', id, text, files: [], at: 1, delivery: { kind: 'sent', outcome: null } };
};
const answer = (id: string, html: string, turnId: string | null = null): ConversationEntry => {
  return { kind: 'answer', id, turnId, html, buttons: [], at: 1 };
};
const NOTICE = answer('notice', '<p>Stopped.</p>');
const CUT = answer('cut', '<p>Word 1.</p><p><em>Stopped.</em></p>', 't');

describe('marks for a stopped answer', () => {
  it.each<[string, readonly ConversationEntry[], readonly string[]]>([
    [
      'only the answer is marked',
      [mine('q', 'go'), mine('s', '/stop'), NOTICE, CUT],
      ['s', 'notice'],
    ],
    [
      'even in the opposite order',
      [mine('q', 'go'), CUT, mine('s', '/stop'), NOTICE],
      ['s', 'notice'],
    ],
    [
      'the notice is shown when nothing was answered',
      [mine('q', 'go'), mine('s', '/stop'), NOTICE],
      ['s'],
    ],
    [
      'an earlier answer has its own mark',
      [CUT, mine('q', 'a'), mine('s', '/stop'), NOTICE],
      ['s'],
    ],
    [
      'a message about /stop leaves no mark',
      [mine('q', 'what does /stop do?'), answer('a', '<p>Stopped.</p>', 't')],
      [],
    ],
  ])('[U08] leaves only one mark for a stopped answer: %s', (_, entries, hidden) => {
    expect([...findStopMarks(entries, COMMANDS).hidden]).toEqual(hidden);
  });
});

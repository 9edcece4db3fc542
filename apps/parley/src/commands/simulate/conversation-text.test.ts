import type { SceneLine } from '@parley/simulators';
import { expect, it } from 'vitest';
import { createConversationText } from './conversation-text.ts';

const at = { chat: 'friends', message: 'bot:1' };

it.each<[what: string, lines: SceneLine[], text: string]>([
  [
    'a message of a person',
    [{ act: { kind: 'say', chat: 'friends', from: 'ann', text: 'hello', mention: true } }],
    '[friends] ann: @bot hello',
  ],
  [
    'a message of several lines as one',
    [{ shown: { ...at, text: 'one\n\ntwo', replyTo: 'ann:1', buttons: ['Approve', 'Deny'] } }],
    '[friends] bot to ann:1: one\n\n    two (buttons: Approve, Deny)',
  ],
  [
    'only the changes of a message that was shown before',
    [
      { shown: { ...at, text: 'one' } },
      { shown: { ...at, text: 'one', reactions: ['👍 bo'] } },
      { shown: { ...at, gone: true } },
    ],
    '[friends] bot: one\n[friends] bot:1 now has reactions: 👍 bo\n[friends] bot:1 was deleted',
  ],
  [
    'the whole text of an edited answer',
    [{ shown: { ...at, text: 'one' } }, { shown: { ...at, text: 'two' } }],
    '[friends] bot: one\n[friends] bot: two',
  ],
  [
    'other actions of people',
    [
      { act: { kind: 'react', ...at, from: 'bo', emoji: '👍' } },
      { act: { kind: 'press', ...at, from: 'you', button: 'Deny' } },
      { act: { kind: 'fault', fault: 'duplicate' } },
      { act: { kind: 'clock', minutes: 60 } },
    ],
    '[friends] bo: *reacts with 👍 on bot:1*\n[friends] you: *presses "Deny" on bot:1*\nFault: duplicate\nThe clock is set forward by 60 minutes',
  ],
])("[U04] a scene's conversation shows %s", (_what, lines, text) => {
  const lineText = createConversationText();
  expect(lines.map(lineText).join('\n')).toBe(text);
});

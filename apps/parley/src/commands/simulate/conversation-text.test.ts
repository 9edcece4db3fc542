import type { SceneLine } from '@parley/simulators';
import { expect, it } from 'vitest';
import { conversationText } from './conversation-text.ts';

const at = { chat: 'friends', message: 'bot:1' };

it.each<[what: string, lines: SceneLine[], text: string]>([
  [
    'what a person says',
    [{ act: { kind: 'say', chat: 'friends', from: 'ann', text: 'hello', mention: true } }],
    '[friends] ann: @bot hello',
  ],
  [
    'several lines as one message',
    [{ shown: { ...at, text: 'one\n\ntwo', replyTo: 'ann:1', buttons: ['Approve', 'Deny'] } }],
    '[friends] bot to ann:1: one\n\n    two (buttons: Approve, Deny)',
  ],
  [
    'of a message that was shown before only what changes',
    [
      { shown: { ...at, text: 'one' } },
      { shown: { ...at, text: 'one', reactions: ['👍 bo'] } },
      { shown: { ...at, gone: true } },
    ],
    '[friends] bot: one\n[friends] bot:1 now has reactions: 👍 bo\n[friends] bot:1 was deleted',
  ],
  [
    'an edited answer again',
    [{ shown: { ...at, text: 'one' } }, { shown: { ...at, text: 'two' } }],
    '[friends] bot: one\n[friends] bot: two',
  ],
  [
    'what else people do',
    [
      { act: { kind: 'react', ...at, from: 'bo', emoji: '👍' } },
      { act: { kind: 'press', ...at, from: 'you', button: 'Deny' } },
      { act: { kind: 'fault', fault: 'duplicate' } },
      { act: { kind: 'clock', minutes: 60 } },
    ],
    '[friends] bo: *reacts with 👍 on bot:1*\n[friends] you: *presses "Deny" on bot:1*\nFault: duplicate\nThe clock goes 60 minutes forward',
  ],
])('[U04] the conversation of a scene shows %s', (_what, lines, text) => {
  const lineText = conversationText();
  expect(lines.map(lineText).join('\n')).toBe(text);
});

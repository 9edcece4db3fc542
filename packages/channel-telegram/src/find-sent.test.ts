import type { ChatStateBeforePart } from '@parley/channels';
import { describe, expect, it } from 'vitest';
import { findFirstNumber } from './find-sent.ts';

const SUPERGROUP = '-1001234567890';
const message = (chatId: string, messageId: string, direction: 'in' | 'out', at = 5) => ({
  chatId,
  messageId,
  direction,
  at,
});
const before = (
  known: ChatStateBeforePart['known'],
  uncertainAt: number | null = null,
): ChatStateBeforePart => ({
  known,
  uncertainAt,
});

describe('the lowest possible number of a message from the bot', () => {
  it.each<[what: string, chatId: string, before: ChatStateBeforePart, number: number | undefined]>([
    ['nothing known', '7', before([]), undefined],
    ['a question', '7', before([message('7', '10', 'in')]), 11],
    [
      'a later answer in another chat',
      '7',
      before([message('7', '10', 'in'), message('8', '12', 'out')]),
      13,
    ],
    ['a pressed button', '7', before([message('7', '10:99', 'in')]), 11],
    [
      'a supergroup, which numbers its own messages',
      '7',
      before([message('7', '10', 'in'), message(SUPERGROUP, '900', 'out')]),
      11,
    ],
    [
      'in a supergroup',
      SUPERGROUP,
      before([message('7', '10', 'in'), message(SUPERGROUP, '900', 'in')]),
      901,
    ],
    [
      'in a supergroup without a known message',
      SUPERGROUP,
      before([message('7', '10', 'in')]),
      undefined,
    ],
    [
      'an uncertain part, and nothing sent since',
      '7',
      before([message('7', '10', 'in'), message('7', '9', 'out', 3)], 4),
      undefined,
    ],
    [
      'an uncertain part before the last answer',
      '7',
      before([message('7', '10', 'in'), message('7', '9', 'out')], 4),
      11,
    ],
    [
      'a later message of a business account, which has its own numbers',
      '7',
      before([message('7', '10', 'in'), message('7', '9000@conn', 'out')]),
      11,
    ],
    [
      'a press there',
      '7',
      before([message('7', '10', 'in'), message('7', '9000@conn:99', 'in')]),
      11,
    ],
    [
      'an answer as a guest',
      SUPERGROUP,
      before([message(SUPERGROUP, '900', 'in'), message(SUPERGROUP, '9999AAB-x', 'out')]),
      901,
    ],
    ['no number', '7', before([message('7', 'x', 'in')]), undefined],
  ])('[D04] %s', (_what, chatId, known, number) => {
    expect(findFirstNumber(chatId, known)).toBe(number);
  });
});

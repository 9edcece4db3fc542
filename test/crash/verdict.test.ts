import { describe, expect, it } from 'vitest';
import { type ConversationVerdict, judgeConversation } from './verdict.ts';
import { createReply, findStretches, type ReplyStretch } from './words.ts';

const FINE: ConversationVerdict = {
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  misdirected: 0,
  faults: [],
};
const s = (reply: number, numbers: readonly number[], part = 1, of = 1): ReplyStretch => ({
  reply,
  part,
  of,
  answers: numbers.map((number) => ({ sender: 1, number })),
});

describe('the results counted after a crash', () => {
  it.each<
    [string, number, readonly ReplyStretch[], readonly ReplyStretch[], Partial<ConversationVerdict>]
  >([
    ['is zero when each question has one answer, in order', 2, [s(1, [1]), s(2, [2])], [], {}],
    ['is zero when one answer covers a burst', 3, [s(1, [1]), s(2, [2, 3])], [], {}],
    [
      'is zero when an answer of several parts is complete',
      1,
      [s(4, [1], 1, 2), s(4, [1], 2, 2)],
      [],
      {},
    ],
    [
      'finds a question without an answer',
      3,
      [s(1, [1]), s(2, [3])],
      [],
      { lost: 1, faults: ['s1-n2 is lost'] },
    ],
    [
      'finds an answer that lacks a part',
      1,
      [s(4, [1], 1, 2)],
      [],
      { lost: 1, faults: ['s1-n1 is lost'] },
    ],
    [
      'takes a part that is reported uncertain as not lost',
      1,
      [s(4, [1], 1, 2)],
      [s(4, [1], 2, 2)],
      {},
    ],
    ['takes an uncertain part that did arrive as seen once', 1, [s(1, [1])], [s(1, [1])], {}],
    [
      'does not let a reply excuse another one',
      1,
      [s(4, [1], 1, 2)],
      [s(8, [1], 2, 2)],
      { lost: 1, faults: ['s1-n1 is lost'] },
    ],
    [
      'finds a part that was sent twice',
      1,
      [s(1, [1]), s(1, [1])],
      [],
      { doubled: 1, faults: ['reply 1 part 1 is seen again'] },
    ],
    [
      'finds a question answered by two replies',
      2,
      [s(1, [1]), s(2, [1, 2])],
      [],
      { doubled: 1, faults: ['s1-n1 is answered by reply 1 and by 2'] },
    ],
    [
      'finds answers that overtook others',
      2,
      [s(2, [2]), s(1, [1])],
      [],
      { outOfOrder: 1, faults: ['s1-n1 in reply 1 is after s1-n2 in reply 2'] },
    ],
    [
      'finds parts that overtook others',
      1,
      [s(4, [1], 2, 2), s(4, [1], 1, 2)],
      [],
      { outOfOrder: 1, faults: ['reply 4 part 1 is after reply 4 part 2'] },
    ],
  ])('%s', (_, asked, heard, uncertain, wrong) => {
    expect(judgeConversation({ asked: new Map([[1, asked]]), heard, uncertain })).toEqual({
      ...FINE,
      ...wrong,
    });
  });

  it('detects an answer sent to another conversation', () => {
    const asked = new Map([[2, 0]]);
    expect(judgeConversation({ asked, heard: [s(1, [1])], uncertain: [] })).toMatchObject({
      misdirected: 1,
      faults: ['reply 1 part 1 is elsewhere'],
    });
  });

  it('distinguishes the senders of a shared chat', () => {
    const answers = [{ sender: 2, number: 1 }];
    const heard = [s(1, [1, 2]), { reply: 2, part: 1, of: 1, answers }];
    const asked = new Map([
      [1, 2],
      [2, 1],
    ]);
    expect(judgeConversation({ asked, heard, uncertain: [] })).toEqual(FINE);
  });
});

describe("the model double's replies", () => {
  it("can be parsed from a chat's text", () => {
    const messages = [
      { role: 'user' as const, content: 'Please answer s9-n9' },
      {
        role: 'user' as const,
        content: 'Earlier: s8-n8\n</message-context>\n\nPlease answer s1-n1\n\nPlease answer s1-n2',
      },
    ];
    const said = createReply({ model: 'double', stream: false, messages }, 4);
    expect(findStretches(`<p>${said}</p>`)).toEqual([
      s(4, [1, 2], 1, 3),
      s(4, [1, 2], 2, 3),
      s(4, [1, 2], 3, 3),
    ]);
  });
});

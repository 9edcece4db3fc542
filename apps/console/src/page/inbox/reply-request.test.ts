import { describe, expect, it } from 'vitest';
import { createReplyRequest, type ReplyRequest } from './reply-request.ts';

const LAST: ReplyRequest = {
  conversationId: 'telegram:default:501',
  text: 'At seven',
  as: 'agent',
  requestId: 'old',
};

describe('the request id of a reply', () => {
  it.each([
    ['it is the first', {}, null, 'new'],
    ['the same reply is sent again', {}, LAST, 'old'],
    ['its text was changed', { text: 'At eight' }, LAST, 'new'],
    ['it is sent in another name', { as: 'self' }, LAST, 'new'],
    ['it goes to another conversation', { conversationId: 'telegram:default:502' }, LAST, 'new'],
  ] as const)(
    '[U12] chooses the request id of a reply when %s',
    (_case, change, last, requestId) => {
      const { requestId: _old, ...reply } = LAST;
      const request = createReplyRequest({ ...reply, ...change }, last, () => 'new');
      expect(request).toEqual({ ...LAST, ...change, requestId });
    },
  );
});

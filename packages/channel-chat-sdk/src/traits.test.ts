import { describe, expect, it } from 'vitest';
import { traitsOf, traitsWithin } from './traits.ts';

const work = () => {};
const METHODS = {
  ...{ editMessage: work, deleteMessage: work, addReaction: work, removeReaction: work },
  ...{ startTyping: work, fetchMessages: work },
};
const slack = { ...traitsOf('@chat-adapter/slack'), platform: 'Slack' };

describe('what an account can do', () => {
  it('[F04] is what its platform can', () => {
    expect(traitsWithin(slack, METHODS as never)).toEqual(slack);
  });

  it.each([
    ['editMessage', { edit: false }],
    ['deleteMessage', { delete: false }],
    ['removeReaction', { react: false }],
    ['startTyping', { typing: false }],
    ['fetchMessages', { history: 'none' }],
  ] as const)('[F04] lacks what an adapter without %s cannot do', (method, lacking) => {
    const { [method]: _gone, ...others } = METHODS;
    const { growMs, ...within } = traitsWithin(slack, others as never);
    const { growMs: _all, ...whole } = slack;
    expect(within).toEqual({ ...whole, ...lacking });
    expect(growMs !== undefined).toBe(method !== 'editMessage' && method !== 'deleteMessage');
  });

  it('[F15] is little for an adapter that nobody has tested', () => {
    const { edit, buttons, media, history } = traitsOf('some-adapter');
    expect({ edit, buttons, media, history }).toEqual({
      ...{ edit: false, buttons: false, media: [], history: 'none' },
    });
  });
});

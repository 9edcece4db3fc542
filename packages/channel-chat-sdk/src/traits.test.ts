import { describe, expect, it } from 'vitest';
import { getTraits, restrictTraits } from './traits.ts';

const work = () => {};
const METHODS = {
  ...{ editMessage: work, deleteMessage: work, addReaction: work, removeReaction: work },
  ...{ startTyping: work, fetchMessages: work },
};
const slack = { ...getTraits('@chat-adapter/slack'), platform: 'Slack' };

describe('the capabilities of an account', () => {
  it('[F04] are those of its platform', () => {
    expect(restrictTraits(slack, METHODS as never)).toEqual(slack);
  });

  it.each([
    ['editMessage', { edit: false }],
    ['deleteMessage', { delete: false }],
    ['removeReaction', { react: false }],
    ['startTyping', { typing: false }],
    ['fetchMessages', { history: 'none' }],
  ] as const)('[F04] do not include what the adapter cannot do without %s', (method, lacking) => {
    const { [method]: _gone, ...others } = METHODS;
    const { growMs, ...within } = restrictTraits(slack, others as never);
    const { growMs: _all, ...whole } = slack;
    expect(within).toEqual({ ...whole, ...lacking });
    expect(growMs !== undefined).toBe(method !== 'editMessage' && method !== 'deleteMessage');
  });

  it('[F15] are minimal for an untested adapter', () => {
    const { edit, buttons, media, history } = getTraits('some-adapter');
    expect({ edit, buttons, media, history }).toEqual({
      ...{ edit: false, buttons: false, media: [], history: 'none' },
    });
  });
});

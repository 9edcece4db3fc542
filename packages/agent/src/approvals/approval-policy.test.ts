import { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { FIRST_MESSAGE } from '../sub-agents/delegate-task.ts';
import { completionText } from '../sub-agents/sub-agent-runner.ts';
import { hasUntrustedText, type Need, needOf, subjectOf } from './approval-policy.ts';

describe('what needs an approval', () => {
  const rules = (ask: readonly string[], auto: readonly string[]) => ({
    ask,
    auto,
    approvers: [],
    waitMs: 1,
  });
  it.each<['never' | 'ask', string[], string[], Need]>([
    ['never', [], [], 'never'],
    ['never', [], ['exec'], 'never'],
    ['never', ['exec'], [], 'ask'],
    ['never', ['write'], [], 'never'],
    ['ask', [], [], 'ask'],
    ['ask', [], ['exec'], 'auto'],
    ['ask', [], ['exec:ls *'], 'auto'],
    ['ask', [], ['exec:cat *', 'write'], 'ask'],
    ['never', ['exec'], ['exec'], 'auto'],
  ])('[G05] a tool that says %s, with ask %j and auto %j: %s', (approval, ask, auto, need) => {
    expect(needOf({ name: 'exec', approval }, 'ls -l', rules(ask, auto))).toBe(need);
  });

  it('[G05] a call is about its tool’s first argument, whatever order the model writes them in', () => {
    const properties = { path: {}, content: {} };
    expect(subjectOf(properties, { content: 'x', path: 'a' })).toBe('a');
    expect(subjectOf(properties, { content: 'x' })).toBeNull();
    expect(subjectOf({ count: {} }, { count: 3 })).toBeNull();
    expect(subjectOf(undefined, { path: 'a' })).toBeNull();
  });
});

const GROUP = { id: 'g', type: 'group' } as const;
const file = (kind: 'document' | 'image' | 'audio' | 'voice' | 'sticker') => ({
  attachments: [{ kind, ref: 'r' }],
});
const reply = (senderId: string | undefined, text: string | undefined) => ({
  replyTo: { messageId: '1', ...(senderId && { senderId }), ...(text && { text }) },
});

const OWN = { text: true, quote: true } as const;

function told(change: object): InboundMessage {
  return InboundMessage.parse({
    ...{ channel: 'test', account: 'default', messageId: '7', text: 'hello' },
    ...{ chat: { id: 'c', type: 'direct' }, sender: { id: '1', name: 'Ada', isBot: false } },
    ...{ addressed: true, sentAt: 0, ...change },
  });
}

describe('text of outsiders', () => {
  it.each<[string, object, boolean]>([
    ['a message', {}, false],
    ['a message in a group', { chat: GROUP }, false],
    ['a document', file('document'), true],
    ['a picture', file('image'), true],
    ['a recording', file('audio'), true],
    ['what was spoken here', { ...file('voice'), text: '', authored: { voice: true } }, false],
    ['a recording of another', { ...file('voice'), text: '', authored: {} }, true],
    // Neither typed nor spoken: its picture and its name come from the author of the sticker set.
    ['a sticker', { ...file('sticker'), text: '', authored: {} }, true],
    ['a contact card', { text: '[Contact: Bob]', authored: {} }, true],
    ['a text of an inline bot', { text: 'hello', authored: {} }, true],
    ['a forwarded message', { text: '[Forwarded from Bob]\nhello' }, true],
    ['a forwarded voice message', { text: '[Forwarded]\n…', ...file('voice') }, true],
    ['an answer to the agent', { ...reply('bot', 'I said so.'), authored: OWN }, false],
    [
      'an answer to oneself in a group',
      { chat: GROUP, ...reply('1', 'I said so.'), authored: OWN },
      false,
    ],
    ['an answer to another in a group', { chat: GROUP, ...reply('2', 'I said so.') }, true],
    ['an answer to nobody known in a group', { chat: GROUP, ...reply(undefined, 'x') }, true],
    ['an answer without their words', { chat: GROUP, ...reply('2', undefined) }, false],
    [
      'an answer to a forwarded message',
      { ...reply('1', 'hello'), authored: { text: true } },
      true,
    ],
    ['a prompt of a server', { text: '/mcp__desk__brief' }, true],
    ['another command', { text: '/help' }, false],
    ['the task of a sub-agent', { trigger: 'sub-agent', text: FIRST_MESSAGE }, false],
    [
      'the result of a sub-agent',
      { trigger: 'sub-agent', text: completionText('x', { kind: 'done', result: FIRST_MESSAGE }) },
      true,
    ],
    ['a person who writes the words of a task', { text: `${FIRST_MESSAGE}` }, false],
    ['a standing task', { trigger: 'heartbeat' }, false],
    ['a job', { trigger: 'cron' }, false],
    ['a start', { trigger: 'boot' }, false],
  ])('[G05] %s (%j): %s', (_what, change, is) => {
    expect(hasUntrustedText({ messages: [told(change)], results: [] })).toBe(is);
    // One of several is enough.
    expect(hasUntrustedText({ messages: [told({}), told(change), told({})], results: [] })).toBe(
      is,
    );
  });

  it.each([
    [[], false, false],
    [[{ foreign: false }], false, false],
    [[{ foreign: false }, { foreign: true }, { foreign: false }], false, true],
    [[], true, true],
  ])('[G05] results %j, inherited %s: %s', (results, inherited, is) => {
    expect(hasUntrustedText({ messages: [told({})], results, inherited })).toBe(is);
  });
});

import { InboundMessage } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { FIRST_MESSAGE } from '../sub-agents/delegate-task.ts';
import { formatCompletion } from '../sub-agents/sub-agent-runner.ts';
import {
  type ApprovalRequirement,
  findApprovalSubject,
  hasUntrustedText,
  resolveApprovalRequirement,
} from './approval-policy.ts';

describe('which calls need an approval', () => {
  const rules = (ask: readonly string[], auto: readonly string[]) => ({
    ask,
    auto,
    approvers: [],
    waitMs: 1,
  });
  it.each<['never' | 'ask', string[], string[], ApprovalRequirement]>([
    ['never', [], [], 'never'],
    ['never', [], ['exec'], 'never'],
    ['never', ['exec'], [], 'ask'],
    ['never', ['write'], [], 'never'],
    ['ask', [], [], 'ask'],
    ['ask', [], ['exec'], 'auto'],
    ['ask', [], ['exec:ls *'], 'auto'],
    ['ask', [], ['exec:cat *', 'write'], 'ask'],
    ['never', ['exec'], ['exec'], 'auto'],
  ])('[G05] a tool that declares %s, with ask %j and auto %j: %s', (approval, ask, auto, need) => {
    expect(resolveApprovalRequirement({ name: 'exec', approval }, 'ls -l', rules(ask, auto))).toBe(
      need,
    );
  });

  it('[G05] matches the first argument in the order of the tool’s schema, not in the order in which the model wrote it', () => {
    const properties = { path: {}, content: {} };
    expect(findApprovalSubject(properties, { content: 'x', path: 'a' })).toBe('a');
    expect(findApprovalSubject(properties, { content: 'x' })).toBeNull();
    expect(findApprovalSubject({ count: {} }, { count: 3 })).toBeNull();
    expect(findApprovalSubject(undefined, { path: 'a' })).toBeNull();
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

describe('text from outsiders', () => {
  it.each<[string, object, boolean]>([
    ['a message', {}, false],
    ['a message in a group', { chat: GROUP }, false],
    ['a document', file('document'), true],
    ['a picture', file('image'), true],
    ['a recording', file('audio'), true],
    [
      'a voice note recorded here',
      { ...file('voice'), text: '', authored: { voice: true } },
      false,
    ],
    ['someone else’s recording', { ...file('voice'), text: '', authored: {} }, true],
    // Stickers are neither typed nor spoken: the author of the sticker set chose the picture and
    // the name.
    ['a sticker', { ...file('sticker'), text: '', authored: {} }, true],
    ['a contact card', { text: '[Contact: Bob]', authored: {} }, true],
    ['a text from an inline bot', { text: 'hello', authored: {} }, true],
    ['a forwarded message', { text: '[Forwarded from Bob]\nhello' }, true],
    ['a forwarded voice message', { text: '[Forwarded]\n…', ...file('voice') }, true],
    ['a reply to the agent', { ...reply('bot', 'I said so.'), authored: OWN }, false],
    [
      'a reply to oneself in a group',
      { chat: GROUP, ...reply('1', 'I said so.'), authored: OWN },
      false,
    ],
    ['a reply to another person in a group', { chat: GROUP, ...reply('2', 'I said so.') }, true],
    ['a reply to an unknown sender in a group', { chat: GROUP, ...reply(undefined, 'x') }, true],
    ['a reply without the quoted words', { chat: GROUP, ...reply('2', undefined) }, false],
    ['a reply to a forwarded message', { ...reply('1', 'hello'), authored: { text: true } }, true],
    ['a prompt from a server', { text: '/mcp__desk__brief' }, true],
    ['another command', { text: '/help' }, false],
    ['the task of a sub-agent', { trigger: 'sub-agent', text: FIRST_MESSAGE }, false],
    [
      'the result of a sub-agent',
      {
        trigger: 'sub-agent',
        text: formatCompletion('x', { kind: 'done', result: FIRST_MESSAGE }),
      },
      true,
    ],
    ['a person who writes the words of a task', { text: `${FIRST_MESSAGE}` }, false],
    ['a standing task', { trigger: 'heartbeat' }, false],
    ['a job', { trigger: 'cron' }, false],
    ['a start', { trigger: 'boot' }, false],
  ])('[G05] detects untrusted text in %s (%j): %s', (_what, change, is) => {
    expect(hasUntrustedText({ messages: [told(change)], results: [] })).toBe(is);
    // One untrusted message among several makes the turn untrusted.
    expect(hasUntrustedText({ messages: [told({}), told(change), told({})], results: [] })).toBe(
      is,
    );
  });

  it.each([
    [[], false, false],
    [[{ foreign: false }], false, false],
    [[{ foreign: false }, { foreign: true }, { foreign: false }], false, true],
    [[], true, true],
  ])('[G05] detects untrusted text in results %j (inherited: %s): %s', (results, inherited, is) => {
    expect(hasUntrustedText({ messages: [told({})], results, inherited })).toBe(is);
  });
});

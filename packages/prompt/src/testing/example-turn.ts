import type { InboundMessage, Reader, RuntimeFacts } from '@parley/contracts';
import type { AbsentFile, WorkspaceFile, WorkspaceView } from '@parley/workspace';
import type { PromptContext } from '../prompt-context.ts';

/** An owner's direct chat on Telegram, to be varied by tests. */
export const FACTS: RuntimeFacts = {
  agent: { id: 'main', name: 'Mori' },
  user: { id: 'telegram:42', name: 'Ann Lee' },
  channel: 'telegram',
  account: 'default',
  channelUserId: '42',
  chatType: 'direct',
  messageId: '991',
  mentions: [],
  addressed: true,
  date: '2026-11-21',
  time: '14:05',
  timeZone: 'Europe/Berlin',
  workspace: '/home/ann/.parley/workspace',
  heartbeat: false,
  variables: {},
};

/** The message that goes with `FACTS`. */
export const MESSAGE: InboundMessage = {
  channel: 'telegram',
  account: 'default',
  messageId: '991',
  chat: { id: '42', type: 'direct' },
  sender: { id: '42', name: 'Ann Lee', username: 'ann', isBot: false },
  text: 'What is on today?',
  mentions: [],
  addressed: true,
  sentAt: 1_795_270_000_000,
  variables: {},
};

export const OWNER: Reader = { kind: 'owner', conversationId: 'telegram:default:42' };
export const GUEST: Reader = { kind: 'guest', conversationId: 'telegram:default:7' };

/** A view whose files are given by the test: everything it is asked for and does not have is missing. */
export function viewOf(
  reader: Reader,
  files: Readonly<Record<string, string>> = {},
): WorkspaceView {
  return {
    reader,
    async read(name): Promise<WorkspaceFile | AbsentFile> {
      const text = files[name];
      if (text === undefined) return { kind: 'absent', reason: 'missing' };
      const audience = { kind: 'everyone' } as const;
      return { kind: 'file', text, source: name, audience, characters: text.length, cut: null };
    },
    list: async () => [],
    groupMemory: 'groups/here.md',
    write: async () => ({ kind: 'refused', reason: 'private', detail: 'a test writes nothing' }),
  };
}

/** The context of one turn; `overrides` replaces whole fields. */
export function contextOf(overrides: Partial<PromptContext> = {}): PromptContext {
  const reader = overrides.reader ?? OWNER;
  return {
    facts: FACTS,
    reader,
    view: viewOf(reader),
    identity: { name: 'Mori' },
    messages: [MESSAGE],
    home: '/home/ann',
    ...overrides,
  };
}

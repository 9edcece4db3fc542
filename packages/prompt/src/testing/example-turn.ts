import type { Reader } from '@parley/core';
import { EXAMPLE_FACTS as FACTS, EXAMPLE_MESSAGE as MESSAGE } from '@parley/core/testing';
import type { AbsentFile, WorkspaceFile, WorkspaceView } from '@parley/workspace';
import type { PromptContext } from '../context.ts';

/** An owner's direct chat on Telegram, and the message of it. */
export { FACTS, MESSAGE };

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
    change: async () => ({ kind: 'unchanged' }),
    plan: async () => ({ kind: 'unchanged' }),
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

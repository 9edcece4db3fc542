import type { BusyPolicy, ReplyRoute } from '@parley/core';
import type { Store } from '../open-store.ts';
import type { AdmittedMessage, ClaimedTurn, Lease, NewPart, TurnCommit } from '../rows.ts';

const WEB = { channel: 'web', account: 'default' } as const;

/** The chat, the lane and the route of the tests' messages share one short name. */
export function routeTo(chatId: string, threadId?: string): ReplyRoute {
  const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
  return { ...WEB, chatId, ...(threadId === undefined ? {} : { threadId }), target };
}

/** A message `id` that somebody wrote in `chatId`; the lane is `web:<chatId>`. */
export function message(
  id: string,
  chatId = 'c1',
  more: { readonly at?: number; readonly threadId?: string; readonly type?: 'group' } = {},
): AdmittedMessage {
  return {
    conversationId: `web:${chatId}`,
    route: routeTo(chatId, more.threadId),
    receivedAt: more.at ?? 0,
    message: {
      ...WEB,
      messageId: id,
      chat: { id: chatId, type: more.type ?? 'direct' },
      sender: { id: 'u1', name: 'Ada 🦜', isBot: false },
      text: `text of ${id}`,
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

/** A part for the chat, the same with and without markup. */
export function part(text: string, chatId = 'c1'): NewPart {
  return { route: routeTo(chatId), body: { text, plain: text } };
}

/** A commit that answers with the given parts and remembers `said` in the history. */
export function answer(turnId: string, texts: readonly string[], chatId = 'c1'): TurnCommit {
  return {
    turnId,
    outcome: 'answered',
    entries: texts.map((content) => ({ role: 'assistant', content })),
    parts: texts.map((text) => part(text, chatId)),
    usage: null,
  };
}

/** Takes a lane that must be free. */
export async function hold(store: Store, lane = 'web:c1', owner = 'w1', now = 0): Promise<Lease> {
  const result = await store.lanes.acquire(lane, owner, now, 1_000);
  if (result.kind === 'busy') throw new Error(`the lane ${lane} is busy`);
  return result.lease;
}

/** Claims a turn that must be there. */
export async function claim(
  store: Store,
  lease: Lease,
  turnId: string,
  busy: BusyPolicy = 'collect',
): Promise<ClaimedTurn> {
  const result = await store.lanes.claim(lease, busy, turnId, 0);
  if (result.kind !== 'turn') throw new Error(`no turn: ${result.kind}`);
  return result.turn;
}

/** The ids of the messages a turn answers. */
export function idsOf(turn: ClaimedTurn): readonly string[] {
  return turn.messages.map((row) => row.message.messageId);
}

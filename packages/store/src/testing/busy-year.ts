import { timedIds } from '../new-id.ts';
import type { Store } from '../open-store.ts';
import { message, part, routeTo } from './messages.ts';

export const DAY = 24 * 60 * 60_000;
const LONG = 'words of an answer, '.repeat(40);

/** For tests: what one message of a chat leaves behind in all tables, written as a turn does it. */
export async function liveThrough(store: Store, at: number, chat: string, id: string) {
  const newId = timedIds(() => at);
  const turnId = newId('turn');
  const conversationId = `web:${chat}`;
  await store.inbox.accept(message(id, chat, { at }));
  const started = await store.lanes.begin(
    { conversationId, owner: 'w1', leaseMs: 1_000 },
    'collect',
    turnId,
    at,
  );
  if (started.kind !== 'turn') throw new Error(`no turn: ${started.kind}`);
  const { lease, turn } = started;
  await store.prompts.record(promptOf(turnId, chat, at));
  await store.turns.appendStep(lease, turnId, { index: 0, content: { text: LONG } }, at);
  const usage = { model: 'm', inputTokens: 9, outputTokens: 9, costUsd: null };
  const account = { day: new Date(at).toISOString().slice(0, 10), personId: chat, groupId: null };
  const entries = [
    { role: 'user' as const, content: id },
    { role: 'assistant' as const, content: LONG },
  ];
  const parts = [part(LONG, chat)];
  const commit = { turnId, outcome: 'answered' as const, entries, parts, usage, account };
  await store.lanes.commit(lease, commit, at);
  const place = { conversationId, session: turn.session };
  await store.pins.fix(place, 'k', 'v', at);
  await store.lanes.release(lease);
  const due = (await store.outbox.next(routeTo(chat)))?.part.id ?? '';
  await store.outbox.markSending(due, at);
  await store.outbox.markSent(due, `p-${id}`, at);
  return turnId;
}

function promptOf(turnId: string, chatId: string, at: number) {
  const who = { chatType: 'direct', personId: 'u', personName: 'Bo' } as const;
  const layer = { layer: 'l', source: 's', cut: null, tokens: 1 };
  const common = { ...layer, placement: 'system', audience: { kind: 'everyone' } } as const;
  return {
    turnId,
    conversationId: `web:${chatId}`,
    at,
    layout: 'parley',
    model: 'm',
    place: { channel: 'web', account: 'default', chatId, ...who },
    messageIds: [],
    parts: [
      { ...common, stable: true, text: LONG },
      { ...common, stable: false, text: `${turnId} ${LONG}` },
    ],
    unsent: [],
    tools: [],
    messages: [],
  };
}

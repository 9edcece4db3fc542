import { resolveBusyMode, silentTracer } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { IngressOutcome } from '../adapter.ts';
import { listEarlierMessages, moveContextToThread, storeAsContext } from './group-context.ts';
import type { IdentifiedMessage } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import type { BacklogLimit } from './limits.ts';
import type { IngressMemory } from './memory.ts';
import { recordRefusal } from './refuse.ts';

/**
 * Accepts a message like `accept`, after the messages that precede it: earlier pictures of its
 * album, and earlier context of the group.
 */
export async function acceptInGroup(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  memory: IngressMemory,
): Promise<IngressOutcome> {
  const { admitted, facts, rules } = identified;
  for (const picture of memory.albums.release(admitted.message)) {
    await acceptPicture(deps, picture, identified, memory);
  }
  if (facts.opensThread) await moveContextToThread(deps, admitted);
  for (const message of await listEarlierMessages(deps, admitted, rules, facts)) {
    await storeAsContext(deps, { ...admitted, message });
  }
  return acceptMessage(deps, identified, memory);
}

/**
 * Accepts a picture that arrived before the text of its album, because the text shows that the
 * picture belongs to the question.
 */
async function acceptPicture(
  deps: IngressDeps,
  picture: AdmittedMessage,
  identified: IdentifiedMessage,
  memory: IngressMemory,
): Promise<void> {
  const { channel, account, chat, messageId } = picture.message;
  await deps.store.inbox.revise({ channel, account, chatId: chat.id, messageId }, null);
  const message = { ...picture.message, addressed: true };
  const { reason } = identified.admitted;
  const admitted = { ...picture, message, ...(reason !== undefined && { reason }) };
  const outcome = await acceptMessage(deps, { ...identified, admitted }, memory);
  if ('reason' in outcome) await recordRefusal(deps, admitted, outcome);
}

/**
 * Stores a message that gets a turn and wakes its conversation; resolves when the message is
 * durable (D01). If a limit is reached, the message is refused with a notice and a reason, never
 * silently dropped (D07).
 */
export async function acceptMessage(
  deps: IngressDeps,
  identified: IdentifiedMessage,
  memory: IngressMemory,
): Promise<IngressOutcome> {
  const { admitted, rules, rights } = identified;
  const { conversationId, message } = admitted;
  const { backlog } = memory;
  const from = { person: rights.person, isOwner: rights.isOwner };
  const room = await backlog.reserve(from);
  let replaced: readonly string[] | undefined;
  let stored: StoreResult | undefined;
  try {
    // Storing is attempted even when the limit is reached, because a duplicate is never refused.
    const most = room === 'room' ? rules.limits.waitingPerConversation : 0;
    stored = await storeWithTrace(deps, () =>
      deps.store.inbox.accept(admitted, most, (ids) => {
        replaced = ids;
      }),
    );
  } finally {
    if (room === 'room') backlog.release(from, stored === 'stored');
  }
  if (stored === 'full') return refuseOverflow(deps, identified, room, memory);
  deps.checkpoint('inbox-committed');
  // A duplicate is woken too: the process may have crashed between storing and waking the first
  // time.
  await deps.lanes.wake(conversationId);
  if (stored === 'duplicate') return { kind: 'duplicate' };
  deps.bus.publish({ type: 'inbox-changed', isLocal: true });
  if (resolveBusyMode(rules.busy ?? 'collect', message) === 'interrupt') {
    deps.bus.publish({ type: 'message-waiting', conversationId });
  }
  return { kind: 'accepted', conversationId, ...(replaced && { replaced }) };
}

type StoreResult = 'stored' | 'duplicate' | 'full';

/** The span covers storing the message, within the message's trace. */
function storeWithTrace(
  { monotonic, meter, tracer = silentTracer }: IngressDeps,
  store: () => Promise<StoreResult>,
): Promise<StoreResult> {
  const startedAt = monotonic();
  return tracer.span('parley.inbox', {}, async (span) => {
    const outcome = await store();
    span.note({ outcome });
    meter.observe('parley_inbox_seconds', monotonic() - startedAt, { outcome });
    return outcome;
  });
}

type BacklogReservation = Awaited<ReturnType<BacklogLimit['reserve']>>;

const BOUND_OF = { room: 'conversation', share: 'person', full: 'all' } as const;

async function refuseOverflow(
  { meter }: IngressDeps,
  { admitted, rules: { limits } }: Pick<IdentifiedMessage, 'admitted' | 'rules'>,
  room: BacklogReservation,
  { explain }: IngressMemory,
): Promise<IngressOutcome> {
  const bound = BOUND_OF[room];
  meter.count('parley_overflow_total', { channel: admitted.message.channel, bound });
  if (room === 'room') await explain.overflow(admitted, limits.waitingPerConversation);
  else await explain.noRoom(admitted);
  const reasons: Readonly<Record<BacklogReservation, string>> = {
    room: `${limits.waitingPerConversation} messages in this conversation are already waiting`,
    share: 'many messages are waiting in all chats, and this person has used up their share',
    full: `${limits.totalWaiting} messages in all chats are already waiting`,
  };
  return { kind: 'refused', reason: reasons[room], bound };
}

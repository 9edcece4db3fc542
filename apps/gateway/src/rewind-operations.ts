import type { BranchResult } from '@parley/agent/branch';
import type { OperatorMemory } from '@parley/agent/memory';
import {
  type Clock,
  createRefusalError,
  defineChangeOperation,
  getConversationAgent,
  type LiveBus,
  type Logger,
} from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { RewindPoint, Rewound, Store } from '@parley/store';
import { z } from 'zod';
import { getInboxReader, throwMissingConversation } from './inbox-operations.ts';
import { getFirstWords } from './why-operations.ts';

interface RewindNeeds {
  readonly store: Pick<Store, 'branches' | 'conversations' | 'conversationMarks' | 'takeovers'>;
  readonly clock: Clock;
  readonly scrub: Scrub;
  readonly log: Logger;
  readonly bus: Pick<LiveBus, 'publish'>;
  memory(agent: string | undefined): Promise<OperatorMemory>;
}

/** The most exchanges that one request undoes. */
const MAX_EXCHANGES = 50;
const Id = z.string().max(700);
/** A message of `conversations/messages` (`i12`, `o7`), or an id of the platform. */
const Message = z.string().min(1).max(256);

/** Operations behind `/rewind` and `/branch` (G23). */
export const rewindOperations = {
  rewind: defineChangeOperation(
    'Leave everything after an answer, or from a question on, out of the history; without a message, the last `exchanges`. It stays readable; the result lists what tools did meanwhile, which is not undone',
    {
      id: Id,
      message: Message.optional(),
      exchanges: z.coerce.number<number | string>().int().min(1).max(MAX_EXCHANGES).default(1),
    },
    rewindConversation,
  ),
  branch: defineChangeOperation(
    'Open a chat on the page with a copy of a conversation, up to this message; repeating a request opens it once',
    { id: Id, message: Message.optional(), requestId: z.string().min(1).max(100) },
    async (needs: RewindNeeds, { id, message, requestId }, { caller }) => {
      const { openBranch } = await import('@parley/agent/branch');
      const point = message === undefined ? null : await findPoint(needs, id, message);
      const reader = getInboxReader(caller);
      const result = await openBranch(needs, { conversationId: id, point, requestId, reader });
      if (result.kind !== 'opened') return refuseBranch(result.kind);
      needs.bus.publish({ type: 'inbox-changed' });
      const { chatId, conversationId, title, isCut } = result;
      return { chatId, conversationId, title, isCut };
    },
  ),
};

async function rewindConversation(
  needs: RewindNeeds,
  { id, message, exchanges }: { id: string; message?: string | undefined; exchanges: number },
) {
  const { store, clock, bus, log, scrub } = needs;
  const point: RewindPoint =
    message === undefined
      ? { kind: 'exchanges', count: exchanges }
      : await findPoint(needs, id, message);
  const result =
    (await store.conversations.rewind(id, point, clock())) ?? throwMissingConversation();
  if (result === 'unknown') return refuseUnknown();
  if (result === 'nothing') {
    throw createRefusalError(
      'nothing-to-rewind',
      'There is nothing to take back after that point.',
    );
  }
  const { turns, messages, effects, setAside, stoppedTurn, stoppedSubAgents } = result;
  log.info({ conversation: id, turns: turns.length }, 'a conversation was rewound from the page');
  for (const conversationId of stoppedTurn === null
    ? stoppedSubAgents
    : [id, ...stoppedSubAgents]) {
    bus.publish({ type: 'stop-turn', conversationId });
  }
  bus.publish({ type: 'inbox-changed' });
  return {
    questions: messages.map(({ message: said }) => getFirstWords(said.typed ?? said.text, scrub)),
    /** What tools have done, which stays done. */
    effects,
    /** The memories that were saved from these messages, for `memory/forget`. */
    memories: await listMemories(needs, id, result),
    wasStopped: stoppedTurn !== null,
    setAside,
  };
}

async function listMemories(
  { memory }: RewindNeeds,
  id: string,
  rewound: Pick<Rewound, 'messages'>,
) {
  const { workspace, service } = await memory(getConversationAgent(id));
  if (service === undefined || rewound.messages.length === 0) return [];
  const [{ findMemoriesOf }, { listMemoriesOfConversation }] = await Promise.all([
    import('@parley/channels'),
    import('@parley/agent/memory'),
  ]);
  const all = await listMemoriesOfConversation({ workspace, service }, id);
  return findMemoriesOf(rewound, all).map(({ file, id: memoryId, text }) => ({
    file,
    id: memoryId,
    text,
  }));
}

/** Messages of the view are named by direction and number; others by the id in their chat. */
async function findPoint(
  { store }: RewindNeeds,
  id: string,
  message: string,
): Promise<RewindPoint> {
  if (/^[io]\d{1,15}$/.test(message)) return { kind: 'shown', id: message };
  const route = (await store.takeovers.newestRoute(id)) ?? throwMissingConversation();
  const { channel, account, chatId } = route;
  return { kind: 'quoted', chat: { channel, account, chatId }, messageId: message };
}

function refuseUnknown(): never {
  throw createRefusalError(
    'no-message',
    'The agent no longer sees that message: it is from an earlier session, or was taken back already.',
  );
}

function refuseBranch(kind: Exclude<BranchResult['kind'], 'opened'>): never {
  if (kind === 'no-conversation') return throwMissingConversation();
  if (kind === 'unknown') return refuseUnknown();
  throw kind === 'empty'
    ? createRefusalError('empty-branch', 'There is nothing to copy before that point.')
    : createRefusalError(
        'others-wrote',
        'Only conversations with an owner can be branched: in a chat on the page, the agent reads private files, so it must not take other people’s messages for yours.',
      );
}

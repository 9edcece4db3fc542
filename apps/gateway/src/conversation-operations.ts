import type { NewPersonReply } from '@parley/agent/person-reply';
import type { AnswerPrinter, GatewayInfo } from '@parley/channels';
import {
  type Call,
  type Clock,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  getConversationAgent,
  type LiveBus,
  type WakeServices,
  wakeIfPossible,
} from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { ConversationAction, DeadLetterWake, PageCursor, Store } from '@parley/store';
import { z } from 'zod';
import { peopleOperations } from './conversation-people.ts';
import {
  getCallerName,
  getInboxReader,
  inboxOperations,
  throwMissingConversation,
} from './inbox-operations.ts';
import { renderMessages } from './printed-messages.ts';
import { rewindOperations } from './rewind-operations.ts';
import { getFirstWords } from './why-operations.ts';

interface ConversationOperationDeps extends WakeServices<DeadLetterWake> {
  readonly store: Pick<Store, 'conversations' | 'conversationMarks' | 'takeovers'>;
  readonly clock: Clock;
  readonly scrub: Scrub;
  readonly defaultAgent: string;
  readonly bus: Pick<LiveBus, 'publish'>;
  /** This state is shared by everyone who views conversations. */
  answerPrinter(): Promise<AnswerPrinter>;
  /** The models of the named agent, or of the default agent. */
  situation(agent: string | undefined): GatewayInfo | Promise<GatewayInfo>;
}

const MAX_LISTED = 50;
const Count = z.coerce.number<number | string>().int();
const Limit = Count.min(1).max(MAX_LISTED).default(MAX_LISTED);
const Id = { id: z.string().max(700) };

/**
 * The position at which a page ends: the sequence numbers of its last message and its last part.
 */
const Mark = z
  .string()
  .regex(/^\d{1,16}\.\d{1,16}$/)
  .transform((text): PageCursor => {
    const [inbox, outbox] = text.split('.').map(Number);
    return { inbox: inbox ?? 0, outbox: outbox ?? 0 };
  });

/** The maximum length, in characters, of a message that a person writes into a chat. */
const MAX_REPLY = 20_000;
const DEFAULT_MINUTES = 60;
/** The longest takeover that the database accepts (one day). */
const MAX_MINUTES = 24 * 60;
const OneConversation = { conversationId: Id.id };

/**
 * Operations on conversations on all channels (U08), including those that `/mode`, `/model`, `/new`
 * and `/stop` perform.
 */
export const operations = {
  list: defineReadOperation(
    'List conversations, newest first; pass `next` as `before` to get the next page. The first page contains all pinned conversations, and your names, pins and archive as `marks`',
    { before: Count.positive().optional(), limit: Limit },
    listConversationPage,
  ),
  show: defineReadOperation(
    'Show one conversation with its model, spend and files, and the models available to it',
    Id,
    async ({ store, clock, situation }: ConversationOperationDeps, { id }, { caller }) => {
      const found =
        (await store.conversations.details(id, clock(), getInboxReader(caller))) ??
        throwMissingConversation();
      const { agentName: agent, models, model } = await situation(getConversationAgent(id));
      return { ...found, now: clock(), agent, models, usualModel: model };
    },
    { running: true },
  ),
  messages: defineReadOperation(
    'List messages and answers, oldest first; pass `next` as `before` to get the previous page',
    { ...Id, before: Mark.optional(), until: Count.nonnegative().optional(), limit: Limit },
    async (needs: ConversationOperationDeps, { id, before = null, until = null, limit }) => {
      const asked = { conversationId: id, before, until, limit };
      const page = await needs.store.conversations.messages(asked);
      const messages = await renderMessages(page, await needs.answerPrinter());
      return { messages, next: formatPageCursor(page.older) };
    },
  ),
  search: defineReadOperation(
    'Search for messages that contain these words, newest first; repeat the request while `missing` messages are not indexed yet',
    { words: z.string().max(200), before: Mark.optional(), limit: Limit },
    async (
      needs: ConversationOperationDeps,
      { words: typed, before = null, limit },
      { caller },
    ) => {
      const { store, clock, scrub, defaultAgent } = needs;
      const query = { typed, before, limit, scrub, reader: getInboxReader(caller) };
      const page = await store.conversations.search(query, clock);
      const hits = page.hits.map((hit) => ({
        ...hit,
        agent: getConversationAgent(hit.conversationId) ?? defaultAgent,
      }));
      return { hits, next: formatPageCursor(page.older), missing: page.missing };
    },
  ),
  'set-mode': defineChangeOperation(
    'Switch a conversation to another mode',
    { ...Id, mode: z.enum(['agent', 'ask', 'plan']) },
    (needs: ConversationOperationDeps, { id, mode }) =>
      performAction(needs, id, { kind: 'mode', to: mode }),
  ),
  'set-model': defineChangeOperation(
    'Choose another model for a conversation; null selects the model from the settings',
    { ...Id, model: z.string().nullable() },
    async (needs: ConversationOperationDeps, { id, model }) => {
      const { models } = await needs.situation(getConversationAgent(id));
      if (model !== null && !models.includes(model)) {
        throw createRefusalError(
          'no-model',
          `There is no model ${model}. Choose one of ${models.join(', ')}.`,
        );
      }
      return performAction(needs, id, { kind: 'model', change: { to: model } });
    },
    { running: true },
  ),
  'new-session': defineChangeOperation(
    'Leave earlier messages out of the prompt from now on',
    Id,
    (needs: ConversationOperationDeps, { id }) => performAction(needs, id, { kind: 'new-session' }),
  ),
  stop: defineChangeOperation(
    'Stop the running turn and set aside the waiting messages',
    Id,
    async (needs: ConversationOperationDeps, { id }) => {
      const done = await performAction(needs, id, { kind: 'stop' });
      needs.bus.publish({ type: 'stop-turn', conversationId: id });
      return done;
    },
  ),
  'take-over': defineChangeOperation(
    'Lead a conversation instead of the agent, which stays silent until you hand it back or the time is up',
    {
      ...OneConversation,
      minutes: Count.min(1).max(MAX_MINUTES).default(DEFAULT_MINUTES),
    },
    takeOverConversation,
  ),
  'hand-back': defineChangeOperation(
    'Hand a conversation back to the agent; false if nobody had taken it over',
    OneConversation,
    handBackConversation,
  ),
  reply: defineChangeOperation(
    'Write into a chat as the agent or as yourself; a repeated request is sent only once',
    {
      ...OneConversation,
      text: z.string().min(1).max(MAX_REPLY),
      as: z.enum(['agent', 'self']),
      requestId: z.string().min(1).max(100),
      /** The value of `newest` that the writer saw. Later messages still get an answer. */
      seen: Count.nonnegative().optional(),
    },
    replyAsPerson,
  ),
  takeovers: defineReadOperation(
    "List takeovers, their ends, and people's replies, newest first",
    { before: Count.positive().optional(), limit: Limit },
    listTakeovers,
  ),
  ...inboxOperations,
  ...peopleOperations,
  ...rewindOperations,
};

/** Returns a page of the list, with the caller's inbox state. */
async function listConversationPage(
  { store, clock, scrub, defaultAgent }: ConversationOperationDeps,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  { caller }: Call,
) {
  const reader = getInboxReader(caller);
  const isFirst = before === undefined;
  const page = await store.conversations.list({ before: before ?? null, limit, reader });
  const known = new Set(page.map(({ id }) => id));
  const pinned = isFirst ? await store.conversations.pinned(reader) : [];
  const found = [...page, ...pinned.filter(({ id }) => !known.has(id))];
  const { marks, isKnown } = isFirst ? await store.conversationMarks.of(reader) : NO_MARKS;
  return {
    now: clock(),
    conversations: found.map(({ last, ...rest }) => ({
      ...rest,
      agent: getConversationAgent(rest.id) ?? defaultAgent,
      last: { ...last, text: getFirstWords(last.text, scrub) },
    })),
    next: page.length < limit ? null : (page.at(-1)?.newest ?? null),
    marks,
    /**
     * Whether the caller has used the inbox before. If not, no message counts as unread, and
     * `begin-inbox` starts the inbox.
     */
    isKnownReader: isKnown,
  };
}

const NO_MARKS = { marks: [], isKnown: true } as const;

async function takeOverConversation(
  { store, bus, log }: ConversationOperationDeps,
  { conversationId, minutes }: { readonly conversationId: string; readonly minutes: number },
  { caller }: Call,
): Promise<{ readonly by: string; readonly until: number }> {
  const by = getCallerName(caller);
  const { isReadByPeople } = await import('@parley/agent/person-reply');
  const route = (await store.takeovers.newestRoute(conversationId)) ?? throwMissingConversation();
  if (!isReadByPeople(route)) throw createNoChatError();
  const lastsMs = minutes * 60_000;
  const { until } =
    (await store.takeovers.takeOver({ conversationId, by, lastsMs })) ?? throwMissingConversation();
  log.info({ conversation: conversationId, by, minutes }, 'a person took a conversation over');
  bus.publish({ type: 'inbox-changed' });
  bus.publish({ type: 'stop-turn', conversationId });
  return { by, until };
}

async function handBackConversation(
  needs: ConversationOperationDeps,
  { conversationId }: { readonly conversationId: string },
  { caller }: Call,
): Promise<{ readonly handedBack: boolean }> {
  const { store, log, bus } = needs;
  const by = getCallerName(caller);
  const handedBack =
    (await store.takeovers.handBack(conversationId, by)) ?? throwMissingConversation();
  if (!handedBack) return { handedBack };
  log.info({ conversation: conversationId, by }, 'a person handed a conversation back');
  bus.publish({ type: 'inbox-changed' });
  await wakeIfPossible(needs, { kind: 'conversation', conversationId });
  return { handedBack };
}

async function replyAsPerson(
  needs: ConversationOperationDeps,
  order: NewPersonReply,
  { caller }: Call,
): Promise<{ readonly turnId: string; readonly isRepeated: boolean; readonly answered: number }> {
  const { sendPersonReply } = await import('@parley/agent/person-reply');
  const { store, log } = needs;
  const by = getCallerName(caller);
  const wake = (to: DeadLetterWake) => wakeIfPossible(needs, to);
  const sent = await sendPersonReply({ store, wake }, order, { name: by });
  switch (sent.kind) {
    case 'no-conversation':
      return throwMissingConversation();
    case 'no-chat':
      throw createNoChatError();
    case 'empty':
      throw createRefusalError('empty-reply', 'This text would be invisible. Write visible text.');
    default: {
      const { kind, turnId, answered } = sent;
      const { conversationId: conversation, as } = order;
      log.info({ conversation, turn: turnId, by, as }, 'a person wrote a message in a chat');
      return { turnId, isRepeated: kind === 'known', answered };
    }
  }
}

/** Merges takeovers and replies into a single page. */
async function listTakeovers(
  { store, defaultAgent }: ConversationOperationDeps,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  { caller }: Call,
) {
  const found = await store.takeovers.recent(limit, before);
  const entries = [
    ...found.takeovers.map((one) => ({ kind: 'takeover' as const, ...one })),
    ...found.replies.map((one) => ({ kind: 'reply' as const, ...one })),
  ].toSorted((one, other) => other.at - one.at);
  const page = entries.slice(0, limit);
  const ids = new Set(page.map((one) => one.conversationId));
  const titles = await store.conversations.titles([...ids], getInboxReader(caller));
  return {
    entries: page.map((one) => ({
      ...one,
      title: titles.get(one.conversationId) ?? null,
      agent: getConversationAgent(one.conversationId) ?? defaultAgent,
    })),
    next: entries.length < limit ? null : (page.at(-1)?.at ?? null),
  };
}

function createNoChatError() {
  return createRefusalError(
    'no-chat',
    'A program leads this conversation through the API. It waits for the answer to its request and does not show other messages.',
  );
}

async function performAction(
  { store, bus, clock, log }: ConversationOperationDeps,
  id: string,
  action: ConversationAction,
): Promise<{ readonly ok: true }> {
  const found = (await store.conversations.act(id, action, clock())) ?? throwMissingConversation();
  log.info({ conversation: id, action: action.kind }, 'a conversation was changed from the page');
  for (const conversationId of found.stoppedSubAgents ?? []) {
    bus.publish({ type: 'stop-turn', conversationId });
  }
  bus.publish({ type: 'inbox-changed' });
  return { ok: true };
}

function formatPageCursor(mark: PageCursor | null): string | null {
  return mark === null ? null : `${mark.inbox}.${mark.outbox}`;
}

import { htmlOfPart, type Situation } from '@parley/channels';
import {
  agentOfConversation,
  type Clock,
  change,
  type LiveBus,
  type Logger,
  read,
  refusal,
} from '@parley/core';
import type { Scrub } from '@parley/core/telemetry/scrubber';
import type { ConversationAction, MessagePage, PageMark, ShownMessage, Store } from '@parley/store';
import { z } from 'zod';
import { firstWords } from './why-operations.ts';

interface ConversationNeeds {
  readonly store: Pick<Store, 'conversations'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scrub: Scrub;
  readonly defaultAgent: string;
  readonly bus: Pick<LiveBus, 'publish'>;
  /** The models of the agent of that name, or of the default one. */
  situation(agent: string | undefined): Situation | Promise<Situation>;
}

const MAX_LISTED = 50;
const Count = z.coerce.number<number | string>().int();
const Limit = Count.min(1).max(MAX_LISTED).default(MAX_LISTED);
const Id = { id: z.string().max(700) };

/** The end of a page: the numbers of its last message and of its last part. */
const Mark = z
  .string()
  .regex(/^\d{1,16}\.\d{1,16}$/)
  .transform((text): PageMark => {
    const [inbox, outbox] = text.split('.').map(Number);
    return { inbox: inbox ?? 0, outbox: outbox ?? 0 };
  });

/** Conversations of all channels (U08), and what `/mode`, `/model`, `/new` and `/stop` do in one. */
export const operations = {
  list: read(
    'Conversations, newest first; `next` is the `before` of the page after it',
    { before: Count.positive().optional(), limit: Limit },
    async (needs: ConversationNeeds, { before = null, limit }) => {
      const { store, clock, scrub, defaultAgent } = needs;
      const found = await store.conversations.list({ before, limit });
      const conversations = found.map(({ last, ...rest }) => ({
        ...rest,
        agent: agentOfConversation(rest.id) ?? defaultAgent,
        last: { ...last, text: firstWords(last.text, scrub) },
      }));
      const next = found.length < limit ? null : (found.at(-1)?.newest ?? null);
      return { now: clock(), conversations, next };
    },
  ),
  show: read(
    'One conversation with its model, spend and files, and the models that it can be given',
    Id,
    async ({ store, clock, situation }: ConversationNeeds, { id }) => {
      const found = (await store.conversations.details(id, clock())) ?? missing();
      const { agentName: agent, models, model } = await situation(agentOfConversation(id));
      return { ...found, now: clock(), agent, models, usualModel: model };
    },
    { running: true },
  ),
  messages: read(
    'Messages and answers, oldest first; `next` is the `before` of the page before it',
    { ...Id, before: Mark.optional(), until: Count.nonnegative().optional(), limit: Limit },
    async ({ store }: ConversationNeeds, { id, before = null, until = null, limit }) => {
      const asked = { conversationId: id, before, until, limit };
      const page = await store.conversations.messages(asked);
      return { messages: await withHtml(page), next: markOf(page.older) };
    },
  ),
  search: read(
    'Messages with these words, newest first; ask again while `missing` are not indexed yet',
    { words: z.string().max(200), before: Mark.optional(), limit: Limit },
    async (needs: ConversationNeeds, { words: typed, before = null, limit }) => {
      const { store, clock, scrub, defaultAgent } = needs;
      const page = await store.conversations.search({ typed, before, limit, scrub }, clock);
      const hits = page.hits.map((hit) => ({
        ...hit,
        agent: agentOfConversation(hit.conversationId) ?? defaultAgent,
      }));
      return { hits, next: markOf(page.older), missing: page.missing };
    },
  ),
  'set-mode': change(
    'Switch a conversation to another mode',
    { ...Id, mode: z.enum(['agent', 'ask', 'plan']) },
    (needs: ConversationNeeds, { id, mode }) => act(needs, id, { kind: 'mode', to: mode }),
  ),
  'set-model': change(
    'Give a conversation another model; null: that of the settings',
    { ...Id, model: z.string().nullable() },
    async (needs: ConversationNeeds, { id, model }) => {
      const { models } = await needs.situation(agentOfConversation(id));
      if (model !== null && !models.includes(model)) {
        throw refusal(
          'no-model',
          `There is no model ${model}. Choose one of ${models.join(', ')}.`,
        );
      }
      return act(needs, id, { kind: 'model', change: { to: model } });
    },
    { running: true },
  ),
  'new-session': change(
    'Leave earlier messages out of the prompt from now on',
    Id,
    (needs: ConversationNeeds, { id }) => act(needs, id, { kind: 'new-session' }),
  ),
  stop: change(
    'Stop the running turn and set aside the waiting messages',
    Id,
    async (needs: ConversationNeeds, { id }) => {
      const done = await act(needs, id, { kind: 'stop' });
      needs.bus.publish({ type: 'stop-turn', conversationId: id });
      return done;
    },
  ),
};

/** A message, and an answer also as HTML from the printer of the page; null: only its text is known. */
type PrintedMessage = Omit<ShownMessage, 'sent'> & { readonly html: string | null };

/** Messages with the HTML of the answers. What the first part of an answer shows is left out of the others. */
async function withHtml({ messages, answers }: MessagePage): Promise<readonly PrintedMessage[]> {
  const printed: PrintedMessage[] = [];
  const shown = new Set<string>();
  for (const { sent, ...message } of messages) {
    const turnId = sent?.turnId ?? '';
    const html = sent === undefined ? null : await htmlOfPart(sent, answers.get(turnId));
    if (html) shown.add(turnId);
    // The first part is on an earlier page.
    const isAlone = html === '' && !shown.has(turnId);
    printed.push({ ...message, html: isAlone ? null : html });
  }
  return printed;
}

async function act(
  { store, bus, clock, log }: ConversationNeeds,
  id: string,
  action: ConversationAction,
): Promise<{ readonly ok: true }> {
  const found = (await store.conversations.act(id, action, clock())) ?? missing();
  log.info({ conversation: id, action: action.kind }, 'a conversation was changed from the page');
  for (const conversationId of found.stoppedSubAgents ?? []) {
    bus.publish({ type: 'stop-turn', conversationId });
  }
  return { ok: true };
}

function missing(): never {
  throw refusal('no-conversation', 'There is no such conversation; it may have been forgotten.');
}

function markOf(mark: PageMark | null): string | null {
  return mark === null ? null : `${mark.inbox}.${mark.outbox}`;
}

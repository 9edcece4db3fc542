import { fileResponse, type Situation } from '@parley/channels';
import { agentOfConversation, type Clock, type LiveBus, type Logger } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import type { ConversationAction, PageMark, Store } from '@parley/store';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { firstWords } from '../why-operations.ts';
import type { ConversationList, ConversationReport, MessageList, SearchAnswer } from './api.ts';
import { bodyOf, uncachedRoutes } from './json-routes.ts';

/** What the routes of conversations and of the search look at. */
export interface ConversationServices {
  readonly store: Store;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scrub: Scrub;
  /** Which models there are. */
  readonly situation: (agent: string | undefined) => Situation;
  /** The name of the default agent in the settings. */
  readonly defaultAgent: string;
}

const PAGE = 50;
const Size = z.coerce.number().int().min(1).max(PAGE).default(PAGE);

const ListQuery = z.object({ before: z.coerce.number().int().positive().optional(), limit: Size });

/** Where a page ended: the numbers of its last message and of its last part. */
const Mark = z
  .string()
  .regex(/^\d{1,16}\.\d{1,16}$/)
  .transform((text): PageMark => {
    const [inbox, outbox] = text.split('.').map(Number);
    return { inbox: inbox ?? 0, outbox: outbox ?? 0 };
  });

const MessagesQuery = z.object({
  before: Mark.optional(),
  until: z.coerce.number().int().nonnegative().optional(),
  limit: Size,
});

const SearchQuery = z.object({ q: z.string().max(200), before: Mark.optional(), limit: Size });

const Place = z.coerce.number().int().nonnegative();
const FilePlace = z.object({ message: Place, index: Place });

/** What can be done to a conversation: what `/mode`, `/model`, `/new` and `/stop` do in it. */
const ActionBody = z.discriminatedUnion('action', [
  z.object({ action: z.literal('mode'), mode: z.enum(['agent', 'ask', 'plan']) }),
  z.object({ action: z.literal('model'), model: z.string().nullable() }),
  z.object({ action: z.literal('new') }),
  z.object({ action: z.literal('stop') }),
]);

/** Conversations of all channels (U08), below `/api/conversations`. They are private: guard them. */
export function conversationRoutes(work: ConversationServices): Hono {
  const { store, clock, scrub, situation } = work;
  const app = uncachedRoutes();
  app.get('/', async (c) => {
    const query = ListQuery.safeParse(c.req.query()).data;
    if (query === undefined) return noSuchPage(c);
    const { before = null, limit } = query;
    const found = await store.conversations.list({ before, limit });
    const conversations = found.map(({ last, ...rest }) => ({
      ...rest,
      agent: agentOfConversation(rest.id) ?? work.defaultAgent,
      last: { ...last, text: firstWords(last.text, scrub) },
    }));
    const next = found.length < limit ? null : (found.at(-1)?.newest ?? null);
    return c.json({ now: clock(), conversations, next } satisfies ConversationList);
  });
  app.get('/:id', async (c) => {
    const found = await store.conversations.details(c.req.param('id'), clock());
    if (found === null) return noConversation(c);
    const name = agentOfConversation(c.req.param('id'));
    const { agentName: agent, models, model: usualModel } = situation(name);
    const known = { now: clock(), agent, models, usualModel };
    return c.json({ ...found, ...known } satisfies ConversationReport);
  });
  app.get('/:id/files/:message/:index', async (c) => {
    const { id, ...place } = c.req.param();
    const key = FilePlace.safeParse(place).data;
    const file =
      key && (await store.attachments.ofConversation(id, { ...key, messageSeq: key.message }));
    return file ? fileResponse(file) : c.json({ error: 'That file is not kept any more.' }, 404);
  });
  app.get('/:id/messages', async (c) => {
    const query = MessagesQuery.safeParse(c.req.query()).data;
    if (query === undefined) return noSuchPage(c);
    const { before = null, until = null, limit } = query;
    const conversationId = c.req.param('id');
    const page = await store.conversations.messages({ conversationId, before, until, limit });
    return c.json({ messages: page.messages, next: markOf(page.older) } satisfies MessageList);
  });
  app.post('/:id', async (c) => {
    const body = await bodyOf(c, ActionBody);
    const { models } = situation(agentOfConversation(c.req.param('id')));
    if (body === undefined || (body.action === 'model' && !isKnown(body.model, models))) {
      return c.json({ error: 'There is nothing like that to do.' }, 400);
    }
    const done = await act(work, c.req.param('id'), body);
    return done ? c.json({ ok: true }) : noConversation(c);
  });
  return app;
}

/** What was said in all conversations (U08), below `/api/search`. It is private: guard it. */
export function searchRoutes({ store, clock, scrub, defaultAgent }: ConversationServices): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => {
    const query = SearchQuery.safeParse(c.req.query()).data;
    if (query === undefined) return noSuchPage(c);
    const { q: typed, before = null, limit } = query;
    const page = await store.conversations.search({ typed, before, limit, scrub }, clock);
    const { older, missing } = page;
    const hits = page.hits.map((hit) => ({
      ...hit,
      agent: agentOfConversation(hit.conversationId) ?? defaultAgent,
    }));
    return c.json({ hits, next: markOf(older), missing } satisfies SearchAnswer);
  });
  return app;
}

/** False: there is no such conversation. */
async function act(
  { store, bus, clock, log }: ConversationServices,
  id: string,
  body: z.infer<typeof ActionBody>,
): Promise<boolean> {
  const found = await store.conversations.act(id, actionOf(body), clock());
  if (found === null) return false;
  log.info({ conversation: id, action: body.action }, 'a conversation was changed from the page');
  const stopped = body.action === 'stop' ? [id] : [];
  for (const conversationId of [...stopped, ...(found.stoppedSubAgents ?? [])]) {
    bus.publish({ type: 'stop-turn', conversationId });
  }
  return true;
}

function actionOf(body: z.infer<typeof ActionBody>): ConversationAction {
  switch (body.action) {
    case 'mode':
      return { kind: 'mode', to: body.mode };
    case 'model':
      return { kind: 'model', change: { to: body.model } };
    case 'new':
      return { kind: 'new-session' };
    case 'stop':
      return { kind: 'stop' };
  }
}

function isKnown(model: string | null, models: readonly string[]): boolean {
  return model === null || models.includes(model);
}

function markOf(mark: PageMark | null): string | null {
  return mark === null ? null : `${mark.inbox}.${mark.outbox}`;
}

function noSuchPage(c: Context): Response {
  return c.json({ error: 'There is no such page: before, until, limit or q is wrong.' }, 400);
}

function noConversation(c: Context): Response {
  return c.json({ error: 'There is no such conversation; it may have been forgotten.' }, 404);
}

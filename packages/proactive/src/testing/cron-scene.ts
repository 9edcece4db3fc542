import type { SenderNow } from '@parley/channels';
import {
  type AskCron,
  type CronAsker,
  type CronWish,
  type InboundMessage,
  type ReplyRoute,
  recordingLogger,
} from '@parley/contracts';
import { type ClaimedTurn, type CronJob, openStore, type Store } from '@parley/store';
import { type CronSchedule, createCronSchedule } from '../cron/schedule.ts';
import { type CronWho, createCronService } from '../cron/service.ts';

const PLACE = { channel: 'test', account: 'default' } as const;

/** For tests: jobs in a real database, at 10:00 in Berlin on 21 November 2026. */
export interface CronScene {
  readonly store: Store;
  readonly schedule: CronSchedule;
  readonly woken: string[];
  /** What chats were told, with the key of each. */
  readonly told: (readonly [key: string, words: string])[];
  readonly lines: readonly string[];
  /** Who people are now; changed by tests. */
  readonly people: { senderNow: (origin: InboundMessage) => SenderNow | null };
  readonly ask: AskCron;
  now(): number;
  later(minutes: number): void;
  at(iso: string): void;
  /** Asks for a job in the owner’s chat, or as somebody else; its id, or why not. */
  add(wish: CronWish, by?: CronAsker): Promise<string>;
  job(id: string): Promise<CronJob>;
  /** Runs the turn that waits in the chat; null when none does. */
  run(outcome?: 'answered' | 'failed', chat?: string): Promise<ClaimedTurn | null>;
  /** The schedule of another process. */
  twin(): CronSchedule;
  close(): Promise<void>;
}

/** Somebody who writes in a chat. */
export function writer(id: string, chat = 'c', kind: 'owner' | 'guest' = 'owner'): CronAsker {
  const type = chat === 'g' ? ('group' as const) : ('direct' as const);
  const message: InboundMessage = {
    ...PLACE,
    messageId: `m-${id}-${chat}`,
    chat: { id: chat, type },
    sender: { id, name: 'Ada', isBot: false },
    text: 'remind me; my secret is heron',
    mentions: [],
    addressed: true,
    sentAt: 0,
    variables: {},
  };
  return { kind: 'chat', message, reader: { kind, conversationId: `test:default:${chat}` } };
}

/** Opens one; `1` is the owner. */
export async function openCronScene(who: CronWho = 'owners'): Promise<CronScene> {
  let now = Date.UTC(2026, 10, 21, 9, 0);
  const clock = () => now;
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const { log, lines } = recordingLogger();
  const woken: string[] = [];
  const told: (readonly [string, string])[] = [];
  const people: CronScene['people'] = {
    senderNow: ({ sender, chat }) => ({
      isOwner: sender.id === '1',
      conversationId: `test:default:${chat.id}`,
      refusal: null,
    }),
  };
  let made = 0;
  const deps = {
    store,
    timeZone: 'Europe/Berlin',
    senderNow: async (origin: InboundMessage) => people.senderNow(origin),
    settings: { who, leastMinutes: 5, perConversation: 3, total: 4 },
    newCode: () => `J${Math.floor(made / 2)}`,
    planned: async () => {},
    wake: async (lane: string) => void woken.push(lane),
    tell: async (_job: CronJob, key: string, words: string) => void told.push([key, words]),
    clock,
    log,
  };
  const ask = createCronService(deps);
  return {
    store,
    schedule: createCronSchedule(deps),
    woken,
    told,
    lines,
    people,
    ask,
    now: clock,
    later: (minutes) => {
      now += minutes * 60_000;
    },
    at: (iso) => {
      now = Date.parse(iso);
    },
    async add(wish, by = writer('1')) {
      made += 2;
      if (by.kind !== 'chat') throw new Error('somebody has to write');
      const { message } = by;
      await seen(store, message, now);
      const route = routeTo(message.chat.id);
      const askedBy = `call:${made}`;
      const answer = await ask({ action: 'add', askedBy, origin: message, route, wish }, by);
      return answer.ok ? `J${made / 2}` : answer.words;
    },
    async job(id) {
      const job = await store.cronJobs.get(id);
      if (job === null) throw new Error(`no job ${id}`);
      return job;
    },
    run: (outcome = 'answered', chat = 'c') => {
      made += 0.001;
      return runNext(store, { lane: `test:default:${chat}`, turn: `t${made}`, now, outcome });
    },
    twin: () => createCronSchedule(deps),
    close: () => store.close(),
  };
}

function routeTo(chatId: string): ReplyRoute {
  return { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 4096, unit: 'utf16' } };
}

/** The chat is known, and nothing waits there. */
async function seen(store: Store, message: InboundMessage, now: number): Promise<void> {
  const conversationId = `test:default:${message.chat.id}`;
  const admitted = { conversationId, message, route: routeTo(message.chat.id), receivedAt: now };
  await store.inbox.command(admitted, { kind: 'none' }, () => []);
}

interface Running {
  readonly lane: string;
  readonly turn: string;
  readonly now: number;
  readonly outcome: 'answered' | 'failed';
}

async function runNext(
  store: Store,
  { lane, turn, now, outcome }: Running,
): Promise<ClaimedTurn | null> {
  const held = await store.lanes.acquire(lane, 'w', now, 1_000);
  if (held.kind === 'busy') throw new Error('the lane is busy');
  const claimed = await store.lanes.claim(held.lease, 'followup', turn, now);
  if (claimed.kind === 'turn') {
    const { turnId } = claimed.turn;
    const commit = { turnId, outcome, entries: [], parts: [], usage: null };
    await store.lanes.commit(held.lease, commit, now);
  }
  await store.lanes.release(held.lease);
  return claimed.kind === 'turn' ? claimed.turn : null;
}

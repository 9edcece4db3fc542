import type { CurrentSender } from '@parley/channels';
import type { CronFields, CronRequester, InboundMessage, ReplyRoute } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { ClaimedTurn, CronJob, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { createCron } from '../cron/cron.ts';
import type { CronServices, OwnerQuestion } from '../cron/job-view.ts';

const PLACE = { channel: 'test', account: 'default' } as const;

export type CronScene = Awaited<ReturnType<typeof openCronScene>>;

export function createTestRequester(
  id: string,
  chat = 'c',
  kind: 'owner' | 'guest' = 'owner',
): CronRequester {
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

const FOREVER = Number.POSITIVE_INFINITY;
const KEPT_FOREVER = {
  ...{ messages: FOREVER, history: FOREVER, decisions: FOREVER },
  ...{ prompts: FOREVER, spend: FOREVER },
};

export async function openCronScene(who: CronServices['settings']['who'] = 'owners') {
  let now = Date.UTC(2026, 10, 21, 9, 0);
  const clock = () => now;
  const store = await openMemoryStore({ clock });
  const { log, lines } = createRecordingLogger();
  const woken: string[] = [];
  const told: (readonly [string, string])[] = [];
  const owner = createTestOwner();
  const people: { senderNow: (origin: InboundMessage) => CurrentSender | null } = {
    senderNow: writerNow,
  };
  let made = 0;
  const deps = {
    store,
    timeZoneOf: () => owner.zone.agent,
    ...owner,
    senderNow: async (origin: InboundMessage) => people.senderNow(origin),
    settings: { who, minMinutes: 5, perConversation: 3, total: 4 },
    newCode: () => `J${Math.floor(made / 2)}`,
    planned: async () => {},
    wake: async (lane: string) => void woken.push(lane),
    notify: async (_job: CronJob, key: string, text: string) => void told.push([key, text]),
    clock,
    log,
  };
  const schedule = createCron(deps);
  const { ask } = schedule;
  return {
    store,
    schedule,
    woken,
    told,
    ...owner,
    lines,
    people,
    ask,
    views: () => schedule.views(),
    now: clock,
    /**
     * Records a retention run that does not remove anything, as evidence of how much time has
     * passed.
     */
    countAges: () =>
      store.retention.run(
        { ages: KEPT_FOREVER, bytes: Number.POSITIVE_INFINITY },
        { clock, countFrom: now, countedTo: now, pause: async () => true },
      ),
    later: (minutes: number) => {
      now += minutes * 60_000;
    },
    at: (iso: string) => {
      now = Date.parse(iso);
    },
    /**
     * Adds a job from the owner’s chat or as another person. Returns the id of the job, or the
     * refusal.
     */
    async add(fields: CronFields, by: CronRequester = createTestRequester('1')) {
      made += 2;
      if (by.kind !== 'chat') throw new Error('somebody has to write');
      const { message } = by;
      await storeHandledMessage(store, message, now);
      const route = createTestRoute(message.chat.id);
      const askedBy = `call:${made}`;
      const answer = await ask({ action: 'add', askedBy, origin: message, route, fields }, by);
      return answer.ok ? `J${made / 2}` : answer.text;
    },
    async job(id: string) {
      const job = await store.cronJobs.get(id);
      if (job === null) throw new Error(`no job ${id}`);
      return job;
    },
    /** Runs the turn that waits in the chat; returns null if there is none. */
    run: (outcome: 'answered' | 'failed' = 'answered', chat = 'c') => {
      made += 0.001;
      return runNextTurn(store, { lane: `test:default:${chat}`, turn: `t${made}`, now, outcome });
    },
    twin: () => createCron(deps),
    close: () => store.close(),
  };
}

const writerNow = ({ sender, chat }: InboundMessage): CurrentSender => ({
  isOwner: sender.id === '1',
  conversationId: `test:default:${chat.id}`,
  refusal: null,
});

/** The agent's time zone, which tests change, and the questions that its owner received. */
function createTestOwner() {
  const asked: OwnerQuestion[] = [];
  const zone = { agent: 'Europe/Berlin', hasOwner: true };
  return {
    asked,
    zone,
    async askOwner(question: OwnerQuestion) {
      // Delivers each key once, as the outbox does.
      const isKnown = asked.some(({ key }) => key === question.key);
      if (zone.hasOwner && !isKnown) asked.push(question);
      return zone.hasOwner;
    },
  };
}

function createTestRoute(chatId: string): ReplyRoute {
  return { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 4096, unit: 'utf16' } };
}

/** Makes the chat known to the store without leaving a message waiting. */
async function storeHandledMessage(
  store: Store,
  message: InboundMessage,
  now: number,
): Promise<void> {
  const conversationId = `test:default:${message.chat.id}`;
  const admitted = {
    conversationId,
    message,
    route: createTestRoute(message.chat.id),
    receivedAt: now,
  };
  await store.inbox.command(admitted, async () => null);
}

interface RunNextTurnOptions {
  readonly lane: string;
  readonly turn: string;
  readonly now: number;
  readonly outcome: 'answered' | 'failed';
}

async function runNextTurn(
  store: Store,
  { lane, turn, now, outcome }: RunNextTurnOptions,
): Promise<ClaimedTurn | null> {
  const work = { conversationId: lane, owner: 'w', leaseMs: 1_000 };
  const begun = await store.lanes.begin(work, 'followup', turn, now);
  if (begun.kind !== 'turn') return null;
  const { turnId } = begun.turn;
  const commit = { turnId, outcome, entries: [], parts: [], usage: null };
  await store.lanes.commit(begun.lease, commit, now);
  await store.lanes.release(begun.lease);
  return begun.turn;
}

import {
  answeredByOne,
  repliesAreHistory,
  type SentText,
  shownOnce,
  silentWhileTakenOver,
} from '../invariants/takeovers.ts';
import type { Scene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { Owner } from '../world/owner.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import { askAt, nowAndThen, WITHOUT_SKILLS } from './people.ts';
import { EMBEDDED } from './script.ts';

const ACCOUNTS = ['one', 'two'];
const KEYED: PlatformKind = { id: 'keyed', hasKeys: true, finds: false, accounts: ACCOUNTS };
const CHATS = ['1', '2'];
const CONVERSATIONS = ACCOUNTS.flatMap((account) =>
  CHATS.map((chat) => ({ account, chat, conversation: `keyed:${account}:${chat}` })),
);
/** The duration of a takeover in ms; a later release finds the takeover already expired. */
const LEADS_MS = [2_000, 15_000] as const;
/** How often an owner checks for takeovers made elsewhere, in ms. */
const LOOK_MS = 10_000;

/** What the owner has written and taken over in one simulation. */
interface AtThePage {
  readonly owner: Owner;
  readonly sent: SentText[];
  readonly led: Set<string>;
}

const pages = new WeakMap<Simulation, AtThePage>();

function pageOf(simulation: Simulation): AtThePage {
  const page = pages.get(simulation) ?? { owner: new Owner(simulation), sent: [], led: new Set() };
  pages.set(simulation, page);
  return page;
}

const sentBy = (simulation: Simulation): readonly SentText[] => pageOf(simulation).sent;

/**
 * Names the questions since the last text of the owner, which may be in the same message of the
 * history.
 */
function answer({ messages }: ModelRequest) {
  const texts = messages.map(({ role, text }) => (role === 'user' ? text : ''));
  const last = texts.findLast((text) => /\bq\d+\b/.test(afterReply(text))) ?? '';
  const asked = [...new Set(afterReply(last).match(/\bq\d+\b/g) ?? [])];
  return { text: `This answers ${asked.join(' and ')}.` };
}

function afterReply(text: string): string {
  return text.split(/Reply r\d+\./).at(-1) ?? '';
}

/**
 * People in four chats ask, and the owner takes over one chat or another for a while, or only
 * writes into it.
 */
function people(simulation: Simulation): void {
  const chance = simulation.chance('people');
  nowAndThen(simulation, 'writing', [50, 2_500], () => {
    askAt(simulation, { platform: 'keyed', ...chance.one(CONVERSATIONS) });
  });
  nowAndThen(simulation, 'owner', [1_000, 9_000], () => {
    const { conversation } = chance.one(CONVERSATIONS);
    const { led } = pageOf(simulation);
    if (chance.happens(0.2)) void write(simulation, conversation);
    else if (!led.has(conversation)) void lead(simulation, conversation);
  });
  const look = (): void => {
    simulation.time.plan(LOOK_MS, () => {
      void handBackUnknown(simulation).finally(() => simulation.time.as(undefined, look));
    });
  };
  look();
}

/**
 * Takes a chat over, sometimes writes, and hands it back; a chat without any message does not exist
 * yet.
 */
async function lead(simulation: Simulation, conversation: string): Promise<void> {
  if (!isStored(simulation, conversation)) return;
  const { owner, led } = pageOf(simulation);
  const chance = simulation.chance(`lead ${conversation} ${simulation.time.now}`);
  led.add(conversation);
  await owner.perform('conversations/take-over', { conversationId: conversation });
  const until = simulation.time.now + chance.between(...LEADS_MS);
  while (simulation.time.now < until) {
    await pause(simulation, chance.between(200, 5_000));
    if (chance.happens(0.6)) await write(simulation, conversation);
  }
  await owner.perform('conversations/hand-back', { conversationId: conversation });
  led.delete(conversation);
}

async function write(simulation: Simulation, conversation: string): Promise<void> {
  if (!isStored(simulation, conversation)) return;
  const { owner, sent } = pageOf(simulation);
  const word = `r${sent.length + 1}`;
  sent.push({ word, conversation });
  const chance = simulation.chance(`reply ${word}`);
  const seen = chance.happens(0.5) ? { seen: newestIn(simulation, conversation) } : {};
  await owner.perform('conversations/reply', {
    conversationId: conversation,
    ...{ text: `Reply ${word}.`, as: chance.one(['self', 'agent']), requestId: word },
    ...seen,
  });
}

/**
 * A slow request that was repeated in the meantime may take a chat over after its owner has handed
 * it back.
 */
async function handBackUnknown(simulation: Simulation): Promise<void> {
  const { owner, led } = pageOf(simulation);
  const rows = simulation.observer.rows<{ readonly id: string }>(
    'select id from conversation where taken_over_until is not null',
  );
  for (const { id } of rows.filter((one) => !led.has(one.id))) {
    await owner.perform('conversations/hand-back', { conversationId: id });
  }
}

function isStored({ observer }: Simulation, conversation: string): boolean {
  return [...observer.tables.messages.values()].some((one) => one.conversation_id === conversation);
}

function newestIn({ observer }: Simulation, conversation: string): number {
  const own = [...observer.tables.messages.values()].filter(
    (one) => one.conversation_id === conversation,
  );
  return Math.max(0, ...own.map(({ seq }) => seq));
}

function pause({ time }: Simulation, ms: number): Promise<void> {
  return new Promise((resolve) => {
    time.as(undefined, () => time.plan(ms, resolve));
  });
}

const SCENE = {
  platforms: [KEYED],
  settings: { heartbeat: { enabled: false }, ...WITHOUT_SKILLS },
  invariants: [silentWhileTakenOver, answeredByOne, shownOnce(sentBy), repliesAreHistory(sentBy)],
  load: async () => {
    await import('../../../apps/gateway/src/conversation-operations.ts');
    await import('@parley/agent/person-reply');
  },
  answer,
  people,
  isUnderWay: (simulation) => {
    const { owner, led } = pageOf(simulation);
    return owner.isWaiting || led.size > 0;
  },
} as const satisfies Partial<Scene>;

/** An owner takes over chats and writes into them, through one process. */
export const takeoversEmbedded: Scene = {
  ...EMBEDDED,
  ...SCENE,
  name: 'takeovers-embedded',
  // A takeover is measured by the clock of the process, so a changed clock could end it at any
  // time.
  faults: EMBEDDED.faults.filter((kind) => kind !== 'clock'),
};

/** Takeovers through two gateways, each of which has one of the accounts, and with two workers. */
export const takeoversShared: Scene = {
  ...SCENE,
  name: 'takeovers-shared',
  processes: {
    ...{ 'gateway-1': 'gateway', 'gateway-2': 'gateway' },
    ...{ 'worker-1': 'worker', 'worker-2': 'worker' },
  },
  faults: ['kill', 'restart', 'pause', 'overtaken', 'wake-ups', 'queue-away', 'sends', 'updates'],
};

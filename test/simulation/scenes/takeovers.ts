import {
  answeredByOne,
  repliesAreHistory,
  type SentText,
  shownOnce,
  silentWhileTakenOver,
} from '../invariants/takeovers.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import { PageOwner } from '../world/owner.ts';
import type { PlatformKind } from '../world/platform-kind.ts';
import { askAt, repeatAtRandom, WITHOUT_SKILLS } from './people.ts';
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
interface OwnerPageState {
  readonly owner: PageOwner;
  readonly sent: SentText[];
  readonly led: Set<string>;
}

const pages = new WeakMap<Simulation, OwnerPageState>();

function getPageState(simulation: Simulation): OwnerPageState {
  const page = pages.get(simulation) ?? {
    owner: new PageOwner(simulation),
    sent: [],
    led: new Set(),
  };
  pages.set(simulation, page);
  return page;
}

const sentBy = (simulation: Simulation): readonly SentText[] => getPageState(simulation).sent;

/**
 * Names the questions since the owner's last text, which may be in the same message of the history.
 */
function answerRequest({ messages }: ModelRequest) {
  const texts = messages.map(({ role, text }) => (role === 'user' ? text : ''));
  const last = texts.findLast((text) => /\bq\d+\b/.test(getTextAfterReply(text))) ?? '';
  const asked = [...new Set(getTextAfterReply(last).match(/\bq\d+\b/g) ?? [])];
  return { text: `This answers ${asked.join(' and ')}.` };
}

function getTextAfterReply(text: string): string {
  return text.split(/Reply r\d+\./).at(-1) ?? '';
}

/**
 * People in four chats ask, and the owner takes over one chat or another for a while, or only
 * writes in it.
 */
function startPeople(simulation: Simulation): void {
  const chance = simulation.chance('people');
  repeatAtRandom(simulation, 'writing', [50, 2_500], () => {
    askAt(simulation, { platform: 'keyed', ...chance.one(CONVERSATIONS) });
  });
  repeatAtRandom(simulation, 'owner', [1_000, 9_000], () => {
    const { conversation } = chance.one(CONVERSATIONS);
    const { led } = getPageState(simulation);
    if (chance.happens(0.2)) void writeReply(simulation, conversation);
    else if (!led.has(conversation)) void leadConversation(simulation, conversation);
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
async function leadConversation(simulation: Simulation, conversation: string): Promise<void> {
  if (!isStored(simulation, conversation)) return;
  const { owner, led } = getPageState(simulation);
  const chance = simulation.chance(`lead ${conversation} ${simulation.time.now}`);
  led.add(conversation);
  await owner.perform('conversations/take-over', { conversationId: conversation });
  const until = simulation.time.now + chance.between(...LEADS_MS);
  while (simulation.time.now < until) {
    await pauseFor(simulation, chance.between(200, 5_000));
    if (chance.happens(0.6)) await writeReply(simulation, conversation);
  }
  await owner.perform('conversations/hand-back', { conversationId: conversation });
  led.delete(conversation);
}

async function writeReply(simulation: Simulation, conversation: string): Promise<void> {
  if (!isStored(simulation, conversation)) return;
  const { owner, sent } = getPageState(simulation);
  const word = `r${sent.length + 1}`;
  sent.push({ word, conversation });
  const chance = simulation.chance(`reply ${word}`);
  const seen = chance.happens(0.5) ? { seen: getNewestSequence(simulation, conversation) } : {};
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
  const { owner, led } = getPageState(simulation);
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

function getNewestSequence({ observer }: Simulation, conversation: string): number {
  const own = [...observer.tables.messages.values()].filter(
    (one) => one.conversation_id === conversation,
  );
  return Math.max(0, ...own.map(({ seq }) => seq));
}

function pauseFor({ time }: Simulation, ms: number): Promise<void> {
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
  answer: answerRequest,
  people: startPeople,
  isUnderWay: (simulation) => {
    const { owner, led } = getPageState(simulation);
    return owner.isWaiting || led.size > 0;
  },
} as const satisfies Partial<SimulationScene>;

/** An owner takes over chats and writes in them, through one process. */
export const takeoversEmbedded: SimulationScene = {
  ...EMBEDDED,
  ...SCENE,
  name: 'takeovers-embedded',
  // A takeover is measured by the process's clock, so a changed clock could end it at any time.
  faults: EMBEDDED.faults.filter((kind) => kind !== 'clock'),
};

/** Takeovers through two gateways, each of which has one of the accounts, and with two workers. */
export const takeoversShared: SimulationScene = {
  ...SCENE,
  name: 'takeovers-shared',
  processes: {
    ...{ 'gateway-1': 'gateway', 'gateway-2': 'gateway' },
    ...{ 'worker-1': 'worker', 'worker-2': 'worker' },
  },
  faults: ['kill', 'restart', 'pause', 'overtaken', 'wake-ups', 'queue-away', 'sends', 'updates'],
};

import { openIdleRuntime, type RecordedRequest, type ScriptedCall } from '@parley/cli/idle-runtime';
import type { ModelRequest } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import { readExampleTasks } from './heartbeat.ts';
import { LAYOUTS } from './prompt-scene.ts';
import { renderTable } from './report.ts';

/** The tokens and the money of one simulated day. */
export interface TokenDay {
  readonly layout: string;
  /** How tools are offered; absent for the layout's default. */
  readonly offer?: 'all' | 'by-need';
  readonly requests: number;
  /** The tokens of the day's first request: `hello` in a new direct chat. */
  readonly first: number;
  readonly sent: number;
  /** The part of `sent` that a provider can read from its cache. */
  readonly cached: number;
  readonly answered: number;
  readonly usd: number;
  /** The tokens that were sent in each part of the day. */
  readonly parts: Readonly<Record<DayPart, number>>;
}

type DayPart = 'direct' | 'group' | 'tools' | 'heartbeat' | 'long talk';

/**
 * US dollars per million tokens: the list price of a common mid-size model. The surcharge of some
 * providers for writing to the cache is not included.
 */
const PRICES = { input: 3, cached: 0.3, output: 15 } as const;

/** How long a provider keeps a prefix, in ms; the shortest time that is common. */
const CACHE_MS = 5 * 60_000;
/** The shortest prefix that a provider caches, in tokens. */
const MIN_CACHED = 1_024;

const MINUTE = 60_000;
const ZONE = 'Europe/Vienna';
/** Midnight in Vienna. */
const MIDNIGHT = Date.parse('2026-03-01T23:00:00Z');
const GROUP = 'allotment';
const LONG_TALK = 60;

interface DayMessage {
  /** Minutes after midnight. */
  readonly at: number;
  readonly part: DayPart;
  readonly text: string;
  readonly group?: string;
}

/** What people write in a day, in order. */
const DAY: readonly DayMessage[] = [
  ...createTalk('direct', 7 * 60 + 31, [
    'hello',
    'what is a good breakfast before a long walk?',
    'and without eggs?',
    'thanks. how do I say that in Italian?',
  ]),
  ...createTalk('tools', 9 * 60 + 2, [
    'remember that I like my tea without sugar',
    'remind me of the dentist tomorrow at 9',
    'note the three things that the garden needs',
    'what did I say about tea?',
    'write the plan for moving house as to-dos',
    'what is in my notes on the garden?',
  ]),
  ...createTalk('group', 12 * 60 + 5, [
    'Polly, who waters on Friday?',
    'and when does the gate close?',
    'can we plant beans next to onions?',
    'thank you!',
  ]).map((message) => ({ ...message, group: GROUP })),
  ...createTalk(
    'long talk',
    19 * 60 + 3,
    Array.from(
      { length: LONG_TALK },
      (_, nth) =>
        `Number ${nth}: I keep thinking about the house by the lake, the roof above all, and what my sister said about it last summer. What would you do?`,
    ),
  ),
];

/** One message every two minutes. */
function createTalk(part: DayPart, start: number, texts: readonly string[]): DayMessage[] {
  return texts.map((text, nth) => ({ at: start + 2 * nth, part, text }));
}

/** The tool that the model calls first for a message. */
const CALLS: readonly (readonly [about: string, call: ScriptedCall])[] = [
  [
    'remember that I like',
    {
      tool: 'save_memory',
      with: { type: 'preference', scope: 'user', quote: 'I like my tea without sugar' },
    },
  ],
  [
    'remind me',
    { tool: 'cron', with: { action: 'add', title: 'Dentist', task: 'Remind.', at: 'in 20 h' } },
  ],
  [
    'note the three',
    { tool: 'write', with: { path: 'notes/garden.md', text: 'Water, compost and patience.' } },
  ],
  ['what did I say', { tool: 'search_memory', with: { query: 'tea' } }],
  [
    'as to-dos',
    {
      tool: 'write_todos',
      with: { todos: ['Pack', 'Carry', 'Unpack'].map((text) => ({ text, state: 'open' })) },
    },
  ],
  ['my notes on', { tool: 'read', with: { path: 'notes/garden.md' } }],
];

const ANSWER =
  'I would look at the roof before anything else, because everything below depends on it. Ask two roofers for an offer, and tell your sister what they said.';

/** Calls the tool for a message, and answers once there is a result. */
function playModel({ system, messages }: ModelRequest): string | ScriptedCall {
  if (system.some(({ text }) => /^Task: /m.test(text))) return 'HEARTBEAT_OK';
  const last = messages.at(-1);
  const said = last?.role === 'user' ? last.said : undefined;
  return CALLS.find(([about]) => said?.includes(about))?.[1] ?? ANSWER;
}

/** Simulates a day in each layout, and in the default layout with all tools in every request. */
export async function measureTokens(): Promise<readonly TokenDay[]> {
  const days: TokenDay[] = [];
  for (const layout of LAYOUTS) days.push(await simulateDay(layout));
  days.splice(1, 0, await simulateDay('parley', 'all'));
  return days;
}

async function simulateDay(layout: string, offer?: 'all' | 'by-need'): Promise<TokenDay> {
  const settings = {
    agent: { timeZone: ZONE, layout },
    ...(offer !== undefined && { tools: { offer } }),
  };
  const parley = await openIdleRuntime(settings, MIDNIGHT, playModel);
  try {
    const parts = { direct: 0, group: 0, tools: 0, heartbeat: 0, 'long talk': 0 };
    const account = async (part: DayPart, run: () => Promise<void>) => {
      const before = parley.asked.length;
      await run();
      parts[part] += sumTokens(parley.asked.slice(before));
    };
    let nextBeat = MIDNIGHT + 24 * 60 * MINUTE;
    const beatUntil = async (end: number): Promise<void> => {
      while (nextBeat <= end) {
        parley.at(nextBeat);
        nextBeat = (await parley.runDue()) ?? Number.POSITIVE_INFINITY;
      }
    };
    for (const [nth, { at, part, text, group }] of DAY.entries()) {
      const moment = MIDNIGHT + at * MINUTE;
      await account('heartbeat', () => beatUntil(moment));
      parley.at(moment);
      await account(part, () => parley.say(text, group));
      // The workspace exists from the first message on.
      if (nth === 0) {
        parley.put('HEARTBEAT.md', readExampleTasks());
        nextBeat = moment;
      }
    }
    return { layout, ...(offer !== undefined && { offer }), ...sumDay(parley.asked), parts };
  } finally {
    await parley.close();
  }
}

const sumTokens = (asked: readonly RecordedRequest[]): number =>
  asked.reduce((sum, { tokens }) => sum + tokens, 0);

function sumDay(asked: readonly RecordedRequest[]): Omit<TokenDay, 'layout' | 'offer' | 'parts'> {
  const texts = asked.map(({ at, request }) => ({ at, bytes: writeRequest(request) }));
  const cached = asked.map(({ at, tokens }, nth) => {
    const own = texts[nth]?.bytes ?? Buffer.of();
    const kept = texts.slice(0, nth).filter((earlier) => at - earlier.at <= CACHE_MS);
    const shared = Math.max(0, ...kept.map(({ bytes }) => countShared(bytes, own)));
    const inCache = Math.floor((tokens * shared) / own.length);
    return inCache < MIN_CACHED ? 0 : inCache;
  });
  const sent = sumTokens(asked);
  const fromCache = cached.reduce((sum, tokens) => sum + tokens, 0);
  const answered = asked.reduce((sum, { said }) => sum + estimateTokens(said), 0);
  const { input, cached: read, output } = PRICES;
  const usd = ((sent - fromCache) * input + fromCache * read + answered * output) / 1_000_000;
  const [first] = asked;
  return {
    requests: asked.length,
    first: first?.tokens ?? 0,
    ...{ sent, cached: fromCache, answered, usd },
  };
}

/** The request in the order in which providers cache it: tools, system prompt, messages. */
function writeRequest({ tools = [], system, messages }: ModelRequest): Buffer {
  const parts = [...tools, ...system.map(({ text }) => text), ...messages];
  return Buffer.from(parts.map((part) => JSON.stringify(part)).join('\n'));
}

/** The number of bytes that both have in common from the start. */
function countShared(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one[at] === other[at]) at += 1;
  return at;
}

export function renderTokens(days: readonly TokenDay[]): string {
  const rows = days.map(({ layout, offer, requests, first, sent, cached, usd, parts }) => [
    offer === undefined ? layout : `${layout}, tools: ${offer}`,
    String(requests),
    formatCount(first),
    formatCount(sent),
    formatCount(sent / requests),
    `${((100 * cached) / sent).toFixed(1)} %`,
    `$${usd.toFixed(3)}`,
    ...Object.values(parts).map(formatCount),
  ]);
  const parts = Object.keys(days[0]?.parts ?? {});
  const head = [
    ...['a day', 'requests', 'first request', 'tokens sent', 'a request', 'from the cache'],
    ...['money', ...parts],
  ];
  const { input, cached, output } = PRICES;
  return [
    renderTable([head, ...rows]),
    '',
    `Prices per million tokens: $${input} input, $${cached} cached input, $${output} output. A prefix stays in the cache for ${CACHE_MS / MINUTE} minutes.`,
  ].join('\n');
}

const formatCount = (count: number): string => Math.round(count).toLocaleString('en');

import type { PlayerAct, SimulatedChat, SimulatedPerson, SimulatedWorld } from '@parley/simulators';
import { signal } from '@preact/signals';
import { askGateway, extractSignInToken, fetchWithSession, signIn } from '../gateway.ts';

/**
 * The state of the simulated world as the command sends it; `console` is the address of the
 * simulated Parley's page.
 */
export type PlayedWorld = SimulatedWorld & { readonly console: string };

/** The state of the person at the simulator: the visible chat and the next action. */
export interface PlayerContext {
  readonly world: PlayedWorld;
  readonly chat: SimulatedChat;
  /** The simulated person as whom the user acts. */
  readonly speaker: SimulatedPerson;
  readonly people: ReadonlyMap<string, string>;
}

/** The state of the page; `act` performs an action and stores the reason if it fails. */
export type PlayState = ReturnType<typeof createPlayState>;

/**
 * Commands on Discord and Slack do not mention anyone, and these platforms show the author of each
 * message.
 */
export function isWorkplace(platform: PlayedWorld['platform']): boolean {
  return platform === 'discord' || platform === 'slack';
}

const RETRY_MS = 1_000;

export function createPlayState() {
  const world = signal<PlayedWorld | null>(null);
  const trouble = signal<string | null>(null);
  const link = signal<'starting' | 'live' | 'lost'>('starting');
  const chat = signal('friends');
  const speaker = signal('you');
  const reply = signal<string | null>(null);
  const edit = signal<string | null>(null);

  const act = async (given: PlayerAct): Promise<string | undefined> => {
    const answer = await askGateway<{ readonly made?: string }>('/api/acts', given);
    trouble.value = answer.kind === 'failed' ? answer.reason : null;
    return answer.kind === 'failed' ? undefined : answer.value.made;
  };

  /** In a direct chat, only the person to whom it belongs can write. */
  const open = (next: SimulatedChat): void => {
    chat.value = next.key;
    reply.value = null;
    edit.value = null;
    if (!next.members.includes(speaker.value)) speaker.value = next.members[0] ?? 'you';
  };

  return { world, trouble, link, chat, speaker, reply, edit, act, open };
}

/** The current simulation; null until the first state has arrived. */
export function getPlayerContext({ world, chat, speaker }: PlayState): PlayerContext | null {
  const now = world.value;
  if (now === null) return null;
  const here = now.chats.find(({ key }) => key === chat.value) ?? now.chats[0];
  const [first] = now.people;
  const who = now.people.find(({ key }) => key === speaker.value) ?? first;
  if (here === undefined || who === undefined) return null;
  const people = new Map(now.people.map(({ key, name }) => [key, name]));
  return { world: now, chat: here, speaker: who, people: people.set('bot', now.bot) };
}

/** Signs in with the address, and then keeps the state up to date until the page is closed. */
export async function watchWorld(state: PlayState): Promise<never> {
  const token = extractSignInToken();
  if (token !== null) state.trouble.value = await signIn(token);
  for (;;) {
    await readWorlds(state).catch(() => undefined);
    state.link.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function readWorlds({ world, trouble, link }: PlayState): Promise<void> {
  const response = await fetchWithSession('/api/world');
  if (response.status === 401) {
    trouble.value = 'Open the address printed by "parley simulate".';
    return;
  }
  if (response.body === null) return;
  let rest = '';
  for await (const piece of readTextChunks(response.body)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    const newest = lines.at(-1);
    if (newest === undefined) continue;
    world.value = JSON.parse(newest);
    link.value = 'live';
  }
}

/** Some browsers cannot iterate over a stream. */
async function* readTextChunks(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

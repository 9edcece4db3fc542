import { createBuiltInTools, createSkillsSource, createToolRegistry } from '@parley/agent';
import { type AgentRoute, routeAgent } from '@parley/channels';
import { getConversationAgent, toAgentConversation } from '@parley/core';
import { createPersonaSource, type PersonaSettings } from '@parley/prompt';
import type { AdmittedMessage } from '@parley/store';
import { createPromptFiles } from '@parley/workspace';
import { type CanaryBook, createCanaryBook, type PersonStatement } from './canaries.ts';
import {
  createHoard,
  createHoardingHook,
  createHoardingSource,
  createRelabelingSource,
} from './careless-sources.ts';
import { createChance, type RandomChance } from './chance.ts';
import { createHostileModel, type HostileModel } from './hostile-model.ts';
import { pickHostilePath } from './hostile-paths.ts';
import { createEcho, judgeRun, type RunJudgment } from './judge-run.ts';
import {
  type ChatLocation,
  createAdmitted,
  FIRST_OWNER,
  getConversation,
  type IncomingMessage,
  isMainSession,
  PLACES,
  SECOND_OWNER,
} from './people.ts';
import { openPrivacyStage, type StagedAgent } from './privacy-stage.ts';
import { makePrivateWorld, NOW, type PrivateWorld } from './private-world.ts';
import { LAYOUTS } from './shown-files.ts';
import type { PrivacyTally } from './tally.ts';

/** The agents of a world, which share its chats and people, and the initial owners of each. */
const AGENTS: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  [undefined, [FIRST_OWNER, SECOND_OWNER]],
  ['desk', [SECOND_OWNER]],
  ['lab', [FIRST_OWNER]],
]);
const NAMES = [...AGENTS.keys()];

function pickAgent(chance: RandomChance, among = NAMES): string | undefined {
  return among[chance.below(among.length)];
}

/** The state of one world. */
interface WorldPlay extends RunJudgment {
  readonly chance: RandomChance;
  /** The routing rules; modified in place. */
  readonly routes: AgentRoute[];
  /** The agent whose turn is running; names of skills may contain words of its files. */
  readonly turn: { agent: string | undefined };
  /** The number of messages so far; used for their ids. */
  messages: number;
}

const OWNER_ACCOUNTS: readonly string[] = [FIRST_OWNER, SECOND_OWNER, 'gamma:linked'];

/** Both are files of the world, and may be private to the owner. */
const CHARACTER: PersonaSettings = {
  persona: { name: 'pirate', builtIn: null },
  format: { name: 'loud', builtIn: null },
  ephemeral: 'Be brief today.',
};

/** The files for which an agent asks approval; it may write all other files freely. */
const PROMPT_FILES = createPromptFiles([
  ...['AGENTS.md', 'USER.md', 'IDENTITY.md', 'TOOLS.md', 'MEMORY.md'],
  ...['memory/', 'skills/', 'formats/', 'personas/', 'output-formats/'],
]);

/** Runs `turns` random turns in one random world, and counts the results in `tally`. */
export async function runWorld(seed: number, turns: number, tally: PrivacyTally): Promise<void> {
  const chance = createChance(seed);
  const book = createCanaryBook(chance);
  const worlds = new Map<string | undefined, PrivateWorld>();
  for (const name of NAMES) {
    const lanes = PLACES.map((place) => toAgentConversation(name, getConversation(place)));
    worlds.set(name, await makePrivateWorld(chance, lanes, book.of(name)));
  }
  const all = [...worlds.values()];
  const worldOf = (name: string | undefined): PrivateWorld => {
    const world = worlds.get(name);
    if (world === undefined) throw new Error(`no agent ${name}`);
    return world;
  };
  const turn: WorldPlay['turn'] = { agent: undefined };
  const model = createModel(all, () => worldOf(turn.agent).skillNames, book, chance);
  const stage = await openPrivacyStage({
    agents: new Map(
      [...worlds].map(([name, world]) => [name, createStagedAgent(world, chance)] as const),
    ),
    model,
    // The owners are linked accounts of one person.
    accountsOf: async (person) => (OWNER_ACCOUNTS.includes(person) ? OWNER_ACCOUNTS : [person]),
  });
  for (const [name, owners] of AGENTS) stage.ownersOf(name).push(...owners);
  const base = { chance, book, worldOf, stage, model, tally, turn };
  const play: WorldPlay = { ...base, routes: [], told: new Map(), messages: 0 };
  try {
    for (let nth = 0; nth < turns; nth += 1) {
      await playTurn(play, `world ${seed}, turn ${nth}`);
      if (tally.leaks.length > 20) return;
    }
  } finally {
    tally.toolCalls += model.calls.made;
    await stage.close();
    for (const world of all) {
      tally.laundered += world.laundered();
      world.remove();
    }
  }
}

/** The careless features of one agent, and its workspace tools. */
function createStagedAgent(world: PrivateWorld, chance: RandomChance): StagedAgent {
  const hoard = createHoard(chance);
  const pathOf = () => pickHostilePath(world.paths, world.workspace.folder, chance);
  return {
    workspace: world.workspace,
    sources: [
      createHoardingSource(hoard, chance),
      createRelabelingSource(world, pathOf, chance),
      createSkillsSource(world.skills),
      createPersonaSource(CHARACTER),
    ],
    hooks: [createHoardingHook(hoard, chance)],
    tools: (memory) =>
      createToolRegistry({
        builtIn: createBuiltInTools({ skills: world.skills, memory, promptFiles: PROMPT_FILES }),
      }).registry,
  };
}

/**
 * One model for all agents: it tries the paths of every agent, regardless of which one is running.
 */
function createModel(
  worlds: readonly PrivateWorld[],
  names: () => readonly string[],
  book: CanaryBook,
  chance: RandomChance,
): HostileModel {
  return createHostileModel({
    chance,
    pathOf() {
      const { paths, workspace } = chance.pick(worlds);
      return pickHostilePath(paths, workspace.folder, chance);
    },
    names,
    query: () => pickQuery(book, chance),
    shown: (request) => {
      const found = [...book.found(JSON.stringify(request))];
      return found.length === 0 ? undefined : chance.pick(found).word;
    },
    secret: (request) => {
      const found = [...book.found(JSON.stringify(request))];
      const secrets = found.filter(({ meantFor }) => meantFor.kind === 'owner');
      return secrets.length === 0 ? undefined : chance.pick(secrets).word;
    },
    echo: (request) => createEcho(request, book, chance),
  });
}

async function playTurn(play: WorldPlay, name: string): Promise<void> {
  const { chance, worldOf, stage, tally } = play;
  if (chance.happens(0.05)) worldOf(pickAgent(chance)).rewrite();
  changeOwners(play, 0.1);
  changeRoutes(play);
  stage.choice.layout = chance.pick(LAYOUTS);
  stage.choice.mode = chance.happens(0.85) ? 'full' : chance.pick(['light', 'minimal', 'none']);
  stage.choice.heartbeat = chance.happens(0.1);
  stage.choice.boot = chance.happens(0.05);
  const place = chance.pick(PLACES);
  const agent = resolveAgent(play, { place, writer: chance.pick(place.senders) });
  const conversationId = toAgentConversation(agent, getConversation(place));
  const said: PersonStatement = { kind: 'said', conversationId, inMainSession: false };
  const written = await writeMessages(play, { place, agent }, said);
  const late: IncomingMessage[] = [];
  if (chance.happens(0.3)) stage.meanwhile(() => writeLate(play, { place, agent }, late));
  await runToEnd(play, { name, said, written });
  tally.turns += 1;
  if (agent !== undefined) tally.others += 1;
  if (late.length === 0) return;
  tally.late += 1;
  // Messages that may not join get a separate turn, for their own reader.
  if (await stage.hasWaiting(conversationId)) await runToEnd(play, { name, said, written: late });
  else tally.joined += 1;
}

/** Occasionally changes the routing rules, so that a chat moves from one agent to another. */
function changeRoutes({ chance, routes }: WorldPlay): void {
  if (!chance.happens(0.2)) return;
  const rule = (): AgentRoute => {
    const { channel, account, chat, senders } = chance.pick(PLACES);
    const agent = pickAgent(chance);
    return chance.pick([
      { agent },
      { agent, channel },
      { agent, account: `${channel}/${account}` },
      { agent, chat: `${channel}:${chat.id}` },
      { agent, person: `${channel}:${chance.pick(senders).id}` },
    ]);
  };
  routes.splice(0, routes.length, ...Array.from({ length: chance.below(6) }, rule));
}

/** The agent that answers in that chat. */
function resolveAgent(
  { routes }: WorldPlay,
  { place, writer }: IncomingMessage,
): string | undefined {
  const sender = { id: writer.id, name: 'somebody', isBot: false };
  return routeAgent({ ...place, sender }, routes).agent;
}

/** A writer in that chat whose messages go to that agent. */
function pickWriter(play: WorldPlay, { place, agent }: AgentChat): IncomingMessage {
  const all = place.senders.map((writer) => ({ place, writer }));
  return play.chance.pick(all.filter((one) => resolveAgent(play, one) === agent));
}

/** A chat, with one of the agents that answer there. */
interface AgentChat {
  readonly place: ChatLocation;
  readonly agent: string | undefined;
}

interface RunningTurn {
  readonly name: string;
  readonly said: PersonStatement;
  /** The messages that started the turn: they alone determine its reader. */
  readonly written: readonly IncomingMessage[];
}

/** Runs a turn as often as necessary. */
async function runToEnd(play: WorldPlay, { name, said, written }: RunningTurn): Promise<void> {
  const { stage, tally } = play;
  const { conversationId } = said;
  const agent = getConversationAgent(conversationId);
  play.turn.agent = agent;
  for (let run = 0; run < 9; run += 1) {
    const isOwner = isMainSession(written, stage.ownersOf(agent));
    const reader = { agent, isOwner, conversationId };
    said.inMainSession ||= isOwner;
    const ended = await stage.run(conversationId);
    await judgeRun(play, reader, `${name}, ${conversationId}, ${stage.choice.layout}`, ended);
    if (ended) break;
    tally.crashes += 1;
    // An owner at the start of the turn may no longer be an owner when the turn resumes.
    changeOwners(play, 0.5);
  }
}

/** A person in that chat writes another message. */
async function writeLate(play: WorldPlay, spot: AgentChat, late: IncomingMessage[]): Promise<void> {
  const { chance, stage } = play;
  const one = pickWriter(play, spot);
  play.messages += 1;
  const text = chance.pick(QUESTIONS);
  late.push(one);
  await stage.accept(admitMessage(play, spot, one, { messageId: `m${play.messages}`, text }));
}

function admitMessage(
  { stage, chance }: WorldPlay,
  { agent }: AgentChat,
  one: IncomingMessage,
  said: { readonly messageId: string; readonly text: string },
): AdmittedMessage {
  const to = { agent, owners: stage.ownersOf(agent) };
  return createAdmitted(one, { ...said, now: NOW }, to, chance);
}

/** Occasionally removes the second owner from the settings, and adds them again. */
function changeOwners({ chance, stage }: WorldPlay, share: number): void {
  if (!chance.happens(share)) return;
  const owners = stage.ownersOf(pickAgent(chance, [undefined, 'desk']));
  const at = owners.indexOf(SECOND_OWNER);
  if (at === -1) owners.push(SECOND_OWNER);
  else owners.splice(at, 1);
}

async function writeMessages(
  play: WorldPlay,
  spot: AgentChat,
  said: PersonStatement,
): Promise<readonly IncomingMessage[]> {
  const { chance, stage } = play;
  const written = Array.from({ length: 1 + chance.below(3) }, () => pickWriter(play, spot));
  const isNew = chance.happens(0.05);
  for (const one of written) {
    play.messages += 1;
    const messageId = `m${play.messages}`;
    const text = createMessageText(play, said);
    const message = admitMessage(play, spot, one, { messageId, text });
    if (isNew && one === written[0]) await stage.newSession(replaceId(message, `n${messageId}`));
    await stage.accept(message);
  }
  return written;
}

/** A question that many files answer; occasionally something to remember, with a unique word. */
function createMessageText({ chance, book }: WorldPlay, said: PersonStatement): string {
  if (!chance.happens(0.15)) return chance.pick(QUESTIONS);
  const whose = book.of(getConversationAgent(said.conversationId));
  const { word } = whose.make(said, `what was said in ${said.conversationId}`);
  return chance.pick(WISHES).replace('*', word);
}

const QUESTIONS = [
  'What do you know of my owner?',
  'What stands in my notes?',
  'knowledge garden?',
];
const WISHES = [
  'I like * most.',
  'Remember that * is my secret.',
  'Hello. Never speak of *!',
  '我喜欢*',
];

/** What a model may search for, including prefixes of words that it was never shown. */
function pickQuery(book: CanaryBook, chance: RandomChance): string {
  const tried = ['canary', 'stands in', 'I like', 'owner', '我喜欢', 'notes'];
  return chance.happens(0.5) ? chance.pick(tried) : (book.any()?.word.slice(0, 12) ?? 'canary');
}

function replaceId(admitted: AdmittedMessage, messageId: string): AdmittedMessage {
  return { ...admitted, message: { ...admitted.message, messageId } };
}

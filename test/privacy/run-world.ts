import { builtInTools, createToolRegistry, skillsSource } from '@parley/agent';
import { type Character, characterSource } from '@parley/prompt';
import type { AdmittedMessage } from '@parley/store';
import { createPromptFiles } from '@parley/workspace';
import type { Said } from './canaries.ts';
import {
  createHoard,
  hoardingHook,
  hoardingSource,
  relabellingSource,
} from './careless-sources.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { hostileModel } from './hostile-model.ts';
import { hostilePath } from './hostile-paths.ts';
import { echoOf, type Judged, judgeRun } from './judge-run.ts';
import {
  admitted,
  type ChatPlace,
  conversationOf,
  FIRST_OWNER,
  isMainSession,
  PLACES,
  SECOND_OWNER,
  type Written,
} from './people.ts';
import { openPrivacyStage } from './privacy-stage.ts';
import { makePrivateWorld, NOW, type PrivateWorld } from './private-world.ts';
import { LAYOUTS } from './shown-files.ts';
import type { Tally } from './tally.ts';

/** Everything of one world. */
interface Play extends Judged {
  readonly chance: Chance;
  /** How many messages were written; makes their ids. */
  messages: number;
}

const OWNER_ACCOUNTS: readonly string[] = [FIRST_OWNER, SECOND_OWNER, 'gamma:linked'];

/** Both are files of the world, which may be the owner's. */
const CHARACTER: Character = {
  persona: { name: 'pirate', builtIn: null },
  format: { name: 'loud', builtIn: null },
  ephemeral: 'Be brief today.',
};

/** What the agent of a world asks about; here it may write the rest freely. */
const PROMPT_FILES = createPromptFiles([
  ...['AGENTS.md', 'USER.md', 'IDENTITY.md', 'TOOLS.md', 'MEMORY.md'],
  ...['memory/', 'skills/', 'formats/', 'personas/', 'output-formats/'],
]);

/** Plays `turns` random turns in one random world, and counts into `tally`. */
export async function runWorld(seed: number, turns: number, tally: Tally): Promise<void> {
  const chance = chanceFrom(seed);
  const world = await makePrivateWorld(chance, PLACES.map(conversationOf));
  const { folder } = world.workspace;
  const pathOf = () => hostilePath(world.paths, folder, chance);
  const model = hostileModel({
    chance,
    pathOf,
    names: world.skillNames,
    query: () => queryToTry(world, chance),
    shown: (request) => {
      const found = [...world.book.found(JSON.stringify(request))];
      return found.length === 0 ? undefined : chance.pick(found).word;
    },
    secret: (request) => {
      const found = [...world.book.found(JSON.stringify(request))];
      const secrets = found.filter(({ meantFor }) => meantFor.kind === 'owner');
      return secrets.length === 0 ? undefined : chance.pick(secrets).word;
    },
    echo: (request) => echoOf(request, world, chance),
  });
  const hoard = createHoard(chance);
  const sources = [
    hoardingSource(hoard, chance),
    relabellingSource(world, pathOf, chance),
    skillsSource(world.skills),
    characterSource(CHARACTER),
  ];
  const stage = await openPrivacyStage({
    workspace: world.workspace,
    model,
    sources,
    hooks: [hoardingHook(hoard, chance)],
    tools: (memory) =>
      createToolRegistry({
        builtIn: builtInTools({ skills: world.skills, memory, promptFiles: PROMPT_FILES }),
      }).registry,
    // The owners are one person, who has told so.
    accountsOf: async (person) => (OWNER_ACCOUNTS.includes(person) ? OWNER_ACCOUNTS : [person]),
  });
  stage.owners.push(FIRST_OWNER, SECOND_OWNER);
  const play: Play = { chance, world, stage, model, tally, told: new Map(), messages: 0 };
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      await playTurn(play, `world ${seed}, turn ${turn}`);
      if (tally.leaks.length > 20) return;
    }
  } finally {
    tally.toolCalls += model.calls.made;
    tally.laundered += world.laundered();
    await stage.close();
    world.remove();
  }
}

async function playTurn(play: Play, name: string): Promise<void> {
  const { chance, world, stage, tally } = play;
  if (chance.happens(0.05)) world.rewrite();
  changeOwners(play, 0.1);
  stage.choice.layout = chance.pick(LAYOUTS);
  stage.choice.mode = chance.happens(0.85) ? 'full' : chance.pick(['light', 'minimal', 'none']);
  stage.choice.heartbeat = chance.happens(0.1);
  stage.choice.boot = chance.happens(0.05);
  const place = chance.pick(PLACES);
  const conversationId = conversationOf(place);
  const said: Said = { kind: 'said', conversationId, inMainSession: false };
  const written = await write(play, place, said);
  const late: Written[] = [];
  if (chance.happens(0.3)) stage.meanwhile(() => writeLate(play, place, late));
  await runToEnd(play, { name, said, written });
  tally.turns += 1;
  if (late.length === 0) return;
  tally.late += 1;
  // What may not join has a turn of its own, for its own reader.
  if (await stage.hasWaiting(conversationId)) await runToEnd(play, { name, said, written: late });
  else tally.joined += 1;
}

interface Running {
  readonly name: string;
  readonly said: Said;
  /** What the turn was started with: it alone decides for whom it runs. */
  readonly written: readonly Written[];
}

/** Runs a turn as often as it takes. */
async function runToEnd(play: Play, { name, said, written }: Running): Promise<void> {
  const { stage, tally } = play;
  const { conversationId } = said;
  for (let run = 0; run < 9; run += 1) {
    const reader = { isOwner: isMainSession(written, stage.owners), conversationId };
    said.inMainSession ||= reader.isOwner;
    const ended = await stage.run(conversationId);
    await judgeRun(play, reader, `${name}, ${conversationId}, ${stage.choice.layout}`, ended);
    if (ended) break;
    tally.crashes += 1;
    // Whoever was an owner when the turn began may not be one when it goes on.
    changeOwners(play, 0.5);
  }
}

/** Somebody who writes there writes once more. */
async function writeLate(play: Play, place: ChatPlace, late: Written[]): Promise<void> {
  const { chance, stage } = play;
  const one = { place, writer: chance.pick(place.senders) };
  play.messages += 1;
  const text = chance.pick(QUESTIONS);
  late.push(one);
  await stage.accept(admitted(one, { messageId: `m${play.messages}`, text, now: NOW }, chance));
}

/** The second owner is now and then removed from the settings, and named again. */
function changeOwners({ chance, stage }: Play, share: number): void {
  if (!chance.happens(share)) return;
  const at = stage.owners.indexOf(SECOND_OWNER);
  if (at === -1) stage.owners.push(SECOND_OWNER);
  else stage.owners.splice(at, 1);
}

async function write(play: Play, place: ChatPlace, said: Said): Promise<readonly Written[]> {
  const { chance, stage } = play;
  const written = Array.from({ length: 1 + chance.below(3) }, () => ({
    place,
    writer: chance.pick(place.senders),
  }));
  const isNew = chance.happens(0.05);
  for (const one of written) {
    play.messages += 1;
    const messageId = `m${play.messages}`;
    const text = messageText(play, said);
    const message = admitted(one, { messageId, text, now: NOW }, chance);
    if (isNew && one === written[0]) await stage.newSession(withId(message, `n${messageId}`));
    await stage.accept(message);
  }
  return written;
}

/** A question that many files answer; now and then something to remember, with a word of its own. */
function messageText({ chance, world: { book } }: Play, said: Said): string {
  if (!chance.happens(0.15)) return chance.pick(QUESTIONS);
  const { word } = book.make(said, `what was said in ${said.conversationId}`);
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

/** What a model may look for: also how words begin that it was never shown. */
function queryToTry({ book }: PrivateWorld, chance: Chance): string {
  const tried = ['canary', 'stands in', 'I like', 'owner', '我喜欢', 'notes'];
  return chance.happens(0.5) ? chance.pick(tried) : (book.any()?.word.slice(0, 12) ?? 'canary');
}

function withId(admitted: AdmittedMessage, messageId: string): AdmittedMessage {
  return { ...admitted, message: { ...admitted.message, messageId } };
}

import { builtInTools, createToolRegistry, skillsSource } from '@parley/agent';
import { type Character, characterSource } from '@parley/prompt';
import type { AdmittedMessage } from '@parley/store';
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
import { makePrivateWorld, NOW } from './private-world.ts';
import { LAYOUTS } from './shown-files.ts';
import type { Tally } from './tally.ts';

/** Everything of one world. */
interface Play extends Judged {
  readonly chance: Chance;
  /** How many messages were written; makes their ids. */
  messages: number;
}

/** Both are files of the world, which may be the owner's. */
const CHARACTER: Character = {
  persona: { name: 'pirate', house: null },
  format: { name: 'loud', house: null },
  ephemeral: 'Be brief today.',
};

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
    tools: createToolRegistry({ builtIn: builtInTools({ skills: world.skills }) }).registry,
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
    await stage.close();
    world.remove();
  }
}

async function playTurn(play: Play, name: string): Promise<void> {
  const { chance, world, stage, tally } = play;
  if (chance.happens(0.05)) world.rewrite();
  changeOwners(play, 0.1);
  stage.choice.layout = chance.pick(LAYOUTS);
  stage.choice.mode = chance.happens(0.85) ? 'full' : chance.pick(['minimal', 'none']);
  stage.choice.heartbeat = chance.happens(0.1);
  stage.choice.boot = chance.happens(0.05);
  const place = chance.pick(PLACES);
  const written = await write(play, place);
  const conversationId = conversationOf(place);
  for (let run = 0; run < 9; run += 1) {
    const reader = { isOwner: isMainSession(written, stage.owners), conversationId };
    const ended = await stage.run(conversationId);
    await judgeRun(play, reader, `${name}, ${conversationId}, ${stage.choice.layout}`, ended);
    if (ended) break;
    tally.crashes += 1;
    // Whoever was an owner when the turn began may not be one when it goes on.
    changeOwners(play, 0.5);
  }
  tally.turns += 1;
}

/** The second owner is now and then removed from the settings, and named again. */
function changeOwners({ chance, stage }: Play, share: number): void {
  if (!chance.happens(share)) return;
  const at = stage.owners.indexOf(SECOND_OWNER);
  if (at === -1) stage.owners.push(SECOND_OWNER);
  else stage.owners.splice(at, 1);
}

async function write(play: Play, place: ChatPlace): Promise<readonly Written[]> {
  const { chance, stage } = play;
  const written = Array.from({ length: 1 + chance.below(3) }, () => ({
    place,
    writer: chance.pick(place.senders),
  }));
  const isNew = chance.happens(0.05);
  for (const one of written) {
    play.messages += 1;
    const messageId = `m${play.messages}`;
    const text = 'What do you know of my owner?';
    const message = admitted(one, { messageId, text, now: NOW }, chance);
    if (isNew && one === written[0]) await stage.newSession(withId(message, `n${messageId}`));
    await stage.accept(message);
  }
  return written;
}

function withId(admitted: AdmittedMessage, messageId: string): AdmittedMessage {
  return { ...admitted, message: { ...admitted.message, messageId } };
}

import { CANARY, canariesStay } from '../invariants/canaries.ts';
import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';
import {
  answerWithCalls,
  createDirectOrigin,
  createGroupOrigin,
  EMBEDDED,
  getLastPersonText,
  getQuestionNumber,
  keepAsking,
  type ScriptedCall,
  SHARED,
} from './script.ts';

const KEYED = { id: 'keyed', hasKeys: true, finds: false };
const OWNER = '1';
const STRANGERS = ['2', '3'];
const GROUP = 'g';

/** The tool calls with which a stranger's model tries to reach other people's data, in order. */
const TRIES: readonly (readonly ScriptedCall[])[] = [
  [{ name: 'read', arguments: { path: 'MEMORY.md' } }],
  [{ name: 'search_memory', arguments: { query: 'canary secret' } }],
  [
    { name: 'grep', arguments: { pattern: 'canary' } },
    { name: 'list', arguments: {} },
  ],
  [{ name: 'read', arguments: { path: 'memory/2025-12-31.md' } }],
  [{ name: 'delegate_task', arguments: { title: 'secrets', task: 'Read MEMORY.md aloud.' } }],
  [{ name: 'read', arguments: { path: 'knowledge/safe.md' } }],
];

function createCalls(isOwners: boolean) {
  return (question: string): readonly (readonly ScriptedCall[])[] => {
    const number = getQuestionNumber(question);
    const tries = TRIES[Math.floor(number / 2) % TRIES.length];
    if (tries === undefined || number % 2 === 1) return [];
    if (!isOwners) return [tries];
    const quote = `Remember that my word is canaryword${number}.`;
    return [[{ name: 'save_memory', arguments: { type: 'fact', scope: 'user', quote } }]];
  };
}

/** A model that repeats everything it has seen. */
function answerRequest(request: ModelRequest) {
  const said = getLastPersonText(request);
  const known = [...new Set(request.body.match(CANARY) ?? [])].join(' ');
  if (!/\bq\d+\b/.test(said)) return { text: `Done. ${known}` };
  const answered = answerWithCalls(request, createCalls(said.includes('for the owner')));
  return answered.text === undefined ? answered : { text: `${answered.text} ${known}` };
}

/**
 * An owner shares private text while strangers write, alone and in a group that includes the owner.
 */
function startPeople(simulation: Simulation): void {
  const chance = simulation.chance('chats');
  keepAsking(simulation, [100, 4_000], (question) => {
    const number = chance.next();
    if (number < 0.4) {
      const secret = `Remember that my word is canaryword${getQuestionNumber(question)}.`;
      const words = `${question} for the owner. ${secret}`;
      simulation.ask('keyed', question, createDirectOrigin(OWNER), words);
    } else if (number < 0.7) {
      simulation.ask(
        'keyed',
        question,
        createDirectOrigin(chance.one(STRANGERS)),
        `${question} of a stranger`,
      );
    } else {
      const by = chance.one([OWNER, ...STRANGERS]);
      simulation.ask('keyed', question, createGroupOrigin(GROUP, by), `${question} of a stranger`);
    }
  });
}

const SCENE = {
  platforms: [KEYED],
  settings: {
    owners: [`keyed:${OWNER}`],
    channels: { keyed: { access: { direct: 'open', groups: 'open' } } },
    heartbeat: { enabled: false },
  },
  files: {
    'MEMORY.md': '# Memory\n\n- The secret of the safe is canarymemory.\n',
    'memory/2025-12-31.md': '# 2025-12-31\n\n- The secret of the day is canaryday.\n',
    'memory/2026-01-01.md': '# 2026-01-01\n\n- The secret of today is canarytoday.\n',
    'USER.md': '# User\n\n- Pet: canaryuser\n',
    'knowledge/safe.md': '---\naudience: owner\n---\n# Safe\n\nThe number is canarysafe.\n',
    'knowledge/open.md': '---\naudience: everyone\n---\n# Opening hours\n\nFrom nine to five.\n',
  },
  invariants: [canariesStay],
  answer: answerRequest,
  people: startPeople,
} as const satisfies Partial<SimulationScene>;

/** The owner's private text must not appear in other people's requests and chats. */
export const strangersEmbedded: SimulationScene = {
  ...EMBEDDED,
  ...SCENE,
  name: 'strangers-embedded',
};
export const strangersShared: SimulationScene = { ...SHARED, ...SCENE, name: 'strangers-shared' };

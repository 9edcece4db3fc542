import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCrashableStore, type StoreCrash } from '../testing/crashing-store.ts';
import { createCountingTool } from '../testing/tool-scene.ts';
import {
  createScriptedModel,
  openTurnScene,
  type ScriptedModel,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { decideAsOwner, OWNER_CHAT, PLACE } from '../testing/write-message.ts';

/**
 * The kinds of calls, which differ in whether a call may be repeated after the process dies and
 * whether a person is asked.
 */
const KINDS = ['asks', 'acts once', 'allowed by the settings'] as const;
type Kind = (typeof KINDS)[number];

/** The outcome of a turn over all runs; each run is one process. */
interface Fate {
  readonly ran: number;
  readonly ids: number;
  readonly questions: number;
  readonly rows: number;
  readonly answers: number;
  /** The result of the call, as the model receives it. */
  readonly told: string;
  /** The writes in each run, in order. */
  readonly lives: readonly (readonly string[])[];
}

/**
 * Simulates a turn with one call that needs an approval. The process dies once per entry of
 * `deaths`, and the last run survives.
 */
async function fateOf(kind: Kind, deaths: readonly StoreCrash[]): Promise<Fate> {
  const made = createCountingTool('write', 'write');
  const tool = { ...made.tool, approval: 'ask' as const, actsOnce: kind === 'acts once' };
  const auto = kind === 'allowed by the settings' ? ['write'] : [];
  const model = createScriptedModel();
  const obedient = { id: model.id, stream: answering(model) };
  const scene = await openTurnScene({}, { tools: [tool], approvals: { auto }, model: obedient });
  try {
    const store = createCrashableStore(scene.store);
    await scene.write('note it');
    const lives: string[][] = [];
    for (const death of [...deaths, null, null]) {
      if (await isOver(scene)) break;
      store.live(death);
      await liveOnce(scene);
      lives.push([...store.written]);
      await approveAll(scene);
    }
    return { lives, ...(await found(scene, model, made)) };
  } finally {
    await scene.close();
  }
}

/** A model that repeats the call until it receives a result, however often the turn restarts. */
function answering(model: ScriptedModel): ScriptedModel['stream'] {
  return (request, signal) => {
    const isTold = request.messages.some(({ role }) => role === 'tool');
    const call = { name: 'write', with: { word: 'parrots' } };
    model.next(isTold ? { say: 'Done.' } : { calls: [call] });
    return model.stream(request, signal);
  };
}

async function approveAll({ store }: TurnScene): Promise<void> {
  for (const { state, code } of await store.approvals.recent(99)) {
    if (state === 'pending') await decideAsOwner(store, 'approved', code);
  }
}

const answers = async (scene: TurnScene) =>
  (await scene.owed()).filter((text) => text === 'Done.').length;
const isOver = async (scene: TurnScene) => (await answers(scene)) > 0;

async function liveOnce(scene: TurnScene): Promise<void> {
  const started = await scene.begin();
  await scene.run(started).catch((error: Error) => expect(error.message).toBe('killed'));
  await scene.store.lanes.release(started.lease);
}

async function found(
  scene: TurnScene,
  model: ScriptedModel,
  { calls }: ReturnType<typeof createCountingTool>,
) {
  const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 100);
  const told = (model.asked.at(-1)?.messages ?? []).filter(({ role }) => role === 'tool');
  return {
    ran: calls.length,
    ids: new Set(calls.map(({ call }) => call.callId)).size,
    questions: parts.filter(({ part }) => part.buttons !== undefined).length,
    rows: (await scene.store.approvals.recent(99)).length,
    answers: await answers(scene),
    told: told.map(({ content }) => content).join(),
  };
}

/**
 * If the process dies between the start of the call and its stored result, the outcome of the call
 * is unknown.
 */
const isUncertain = ({ told }: Fate) => told.includes('It is not known whether it took effect');

function expectOnce(kind: Kind, fate: Fate): void {
  const { ran, ids, questions, rows, answers, told } = fate;
  expect({ answers, rows, questions }).toEqual({
    answers: 1,
    rows: 1,
    questions: kind === 'allowed by the settings' ? 0 : 1,
  });
  if (kind === 'acts once') expect([ids, told]).toEqual([1, 'write says parrots']);
  else if (isUncertain(fate)) expect(ran).toBeLessThanOrEqual(1);
  else expect([ran, told]).toEqual([1, 'write says parrots']);
}

/**
 * The crash points of a turn that runs in a single process. In a turn that asks a question, two
 * runs share these writes.
 */
const POINTS = [1, 2, 3, 4, 5].flatMap((write) => [
  { write, when: 'before' as const },
  { write, when: 'after' as const },
]);

describe('a process that dies around a call that needs an approval', () => {
  it.each(KINDS)(
    '[G05] [G16] makes exactly the writes at which these tests kill the process: %s',
    async (kind) => {
      const { lives } = await fateOf(kind, []);
      const rest = kind === 'acts once' ? ['step', 'commit'] : ['step', 'step', 'commit'];
      expect(lives).toEqual(
        kind === 'allowed by the settings' ? [['step', 'allow', ...rest]] : [['step', 'ask'], rest],
      );
    },
  );

  it.each(KINDS.flatMap((kind) => POINTS.map((death) => [kind, death.when, death.write] as const)))(
    '[G05] [G16] ends like an uninterrupted turn if the process dies before or while it asks: %s, %s write %i',
    async (kind, when, write) => {
      expectOnce(kind, await fateOf(kind, [{ write, when }]));
    },
  );

  it.each([
    ['before the call starts: the call runs', 'before', 1, 1, false],
    ['after the call starts: its effect is unknown', 'after', 1, 0, true],
    [
      'after the call ran, before its result is stored: its effect is unknown',
      'before',
      2,
      1,
      true,
    ],
    ['after the result is stored: the call does not run again', 'after', 2, 1, false],
    ['before the commit', 'before', 4, 1, false],
  ] as const)(
    '[G05] [G16] resumes correctly if the process dies after the decision, %s',
    async (_what, when, write, ran, uncertain) => {
      // The first run ends with the question.
      const unhurt = { write: 99, when: 'before' } as const;
      const fate = await fateOf('asks', [unhurt, { write, when }]);
      expectOnce('asks', fate);
      expect([fate.ran, isUncertain(fate)]).toEqual([ran, uncertain]);
    },
  );

  it('[G05] [G16] asks once, runs the call at most once and answers once, however often the process dies', async () => {
    const death = fc.record({
      write: fc.integer({ min: 1, max: 6 }),
      when: fc.constantFrom<StoreCrash['when'][]>('before', 'after'),
    });
    const some = fc.array(death, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...KINDS), some, async (kind, deaths) =>
        expectOnce(kind, await fateOf(kind, deaths)),
      ),
      toRunOptions(60),
    );
  });
});

import type { RandomChance } from '../engine/chance.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';
import { findQuestionRow } from './questions.ts';

/** The maximum number of starts of a turn; the next process to pick it up gives it up. */
const MAX_STARTS = 5;
/** A process that has started or resumed the turn is killed within this number of its events. */
const MAX_STEPS = 12;
/** The chat whose turns are unlucky. */
export const UNLUCKY = 'unlucky';

/** The turns of the chat, by their questions. */
function groupTurns(simulation: Simulation): ReadonlyMap<string, readonly string[]> {
  const turns = new Map<string, string[]>();
  for (const question of simulation.questions) {
    if (question.chat !== UNLUCKY) continue;
    const turn = findQuestionRow(question, simulation)?.turn_id;
    if (turn != null) turns.set(turn, [...(turns.get(turn) ?? []), question.text]);
  }
  return turns;
}

/**
 * Kills each process that has started or resumed a turn with several questions of the chat. It does
 * not check a promise itself.
 */
export const killsTheUnlucky: MakeInvariant = () => {
  let chance: RandomChance | undefined;
  return {
    id: 'D06',
    afterStep: ({ changes, process }, simulation) => {
      if (Number.isFinite(simulation.calmSince)) return [];
      const turns = groupTurns(simulation);
      for (const change of changes) {
        if (change.kind !== 'turn' || change.to !== 'running') continue;
        if ((turns.get(change.turn)?.length ?? 0) < 2) continue;
        chance ??= simulation.chance('kills of the unlucky');
        const [name = ''] = process.split('.');
        const steps = Math.floor(chance.between(0, MAX_STEPS));
        simulation.supervisor.killAfter(name, steps, chance.between(50, 2_000));
      }
      return [];
    },
  };
};

/**
 * A turn that was started this often is given up: it becomes a dead letter and its chat is notified
 * (D06). Its questions are not answered, so counting answers alone would report them as lost.
 */
export const nothingGivenUpSilently: MakeInvariant = () => {
  const starts = new Map<string, number>();
  return {
    id: 'D06',
    afterStep: ({ changes }) => {
      for (const change of changes) {
        if (change.kind === 'turn') starts.set(change.turn, change.attempts);
      }
      return [];
    },
    atEnd: (simulation) => {
      const { turns, deadLetters, parts } = simulation.observer.tables;
      const notices = [...parts.values()].filter(
        ({ chat, state, turn_id }) =>
          chat.endsWith(`:${UNLUCKY}`) && state === 'sent' && turn_id !== null,
      );
      const wrong: string[] = [];
      for (const [turn, questions] of groupTurns(simulation)) {
        const [of, count] = [questions.join(' and '), starts.get(turn) ?? 0];
        const { state } = turns.get(turn) ?? {};
        if (state === 'failed' && count <= MAX_STARTS)
          wrong.push(`the turn of ${of} was given up after ${count} starts`);
        if (count > MAX_STARTS && state !== 'failed') wrong.push(`the turn of ${of} is ${state}`);
        if (state !== 'failed') continue;
        if (![...deadLetters.values()].some(({ subject }) => subject === turn))
          wrong.push(`the turn of ${of} is missing from the dead letters`);
        if (!notices.some(({ id, turn_id }) => turn_id === turn && simulation.shownPart(id)))
          wrong.push(`no chat was told that ${of} were given up`);
      }
      return wrong;
    },
  };
};

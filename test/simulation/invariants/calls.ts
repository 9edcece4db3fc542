import { readCurrentTurn } from '../scenes/script.ts';
import type { MakeInvariant } from './invariant.ts';
import { createJournalReader } from './journal.ts';
import { findQuestionRow } from './questions.ts';

/** A tool call that must not be repeated starts once and has one result (G16). */
export const callsOnce: MakeInvariant = () => {
  const read = createJournalReader();
  const begun = new Set<string>();
  const ended = new Set<string>();
  return {
    id: 'G16',
    afterChange: (simulation) =>
      read(simulation).flatMap(({ kind, call }) => {
        if (call === undefined) return [];
        if (kind === 'held') begun.delete(call);
        const known = kind === 'started' ? begun : kind === 'result' ? ended : null;
        if (known === null) return [];
        if (known.has(call)) return [`${call} has a second step "${kind}"`];
        known.add(call);
        return [];
      }),
  };
};

/**
 * A resumed turn has all results and does not request anything from the model that its journal
 * already contains (G16).
 */
export const askedOnce: MakeInvariant = () => {
  const read = createJournalReader();
  const steps = new Map<string, number>();
  const holders = new Map<string, string>();
  return {
    id: 'G16',
    afterStep: ({ process, changes }) => {
      for (const change of changes) {
        if (change.kind === 'lane' && change.holder !== null) holders.set(change.holder, process);
      }
      return [];
    },
    afterChange: (simulation) => {
      for (const { turn, kind, calls } of read(simulation)) {
        if (kind === 'model' && calls.length > 0) steps.set(turn, (steps.get(turn) ?? 0) + 1);
      }
      return [];
    },
    onRequest: (request, simulation) => {
      const { observer, time } = simulation;
      const { questions: asked, rounds, results } = readCurrentTurn(request);
      const question = simulation.questions.find(({ text }) => text === asked.at(-1));
      const message = question && findQuestionRow(question, simulation);
      const turn = observer.tables.turns.get(message?.turn_id ?? '');
      // A request to summarize earlier messages does not offer tools.
      if (message?.turn_id == null || turn?.state !== 'running' || request.tools.length === 0)
        return [];
      const has = new Set(results.map(({ resultOf }) => resultOf));
      const lost = rounds
        .flatMap(({ calls }) => calls)
        .filter(({ id }) => !has.has(id))
        .map(({ id, name }) => `the result of ${name} (${id}) is missing from the next request`);
      // A process that lost the lane may ask the model until it notices.
      const holder = observer.tables.conversations.get(message.conversation_id)?.lease_owner;
      if (holder == null || holders.get(holder) !== time.process?.name) return lost;
      const known = steps.get(message.turn_id) ?? 0;
      if (known === rounds.length) return lost;
      return [...lost, `${asked.join(', ')}: asked with ${rounds.length} of ${known} known rounds`];
    },
  };
};

/**
 * A journal step is written by the process that holds the lane of its turn, never by an earlier
 * holder (D02).
 */
export const stepsByHolder: MakeInvariant = () => {
  const read = createJournalReader();
  // Other processes may write to the lane later, for example to shorten its lease.
  const takers = new Map<string, string>();
  return {
    id: 'D02',
    afterStep: ({ process, changes }) => {
      for (const change of changes) {
        if (change.kind !== 'lane' || change.holder === null || takers.has(change.holder)) continue;
        takers.set(change.holder, process);
      }
      return [];
    },
    afterChange: (simulation, process) => {
      const { turns, conversations } = simulation.observer.tables;
      return read(simulation).flatMap(({ turn, kind }) => {
        const lane = conversations.get(turns.get(turn)?.conversation_id ?? '');
        // The simulation has not yet recorded the holder of a lane taken in this very event.
        const holder = takers.get(lane?.lease_owner ?? '');
        if (holder === undefined || holder === process) return [];
        return [`${process} wrote a step "${kind}" of ${turn}, whose lane belongs to ${holder}`];
      });
    },
  };
};

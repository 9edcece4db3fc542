import { getLastPersonText } from '../scenes/script.ts';
import type { MakeInvariant } from './invariant.ts';
import { findQuestionRow } from './questions.ts';

/** The maximum number of starts of a turn that kills its process. */
const MAX_DEATHS = 5;

/**
 * A question that kills every process is given up after five crashes, and its chat is notified
 * (D06).
 */
export const givenUp: MakeInvariant = () => {
  let asked = 0;
  return {
    id: 'D06',
    onRequest: (request) => {
      if (!getLastPersonText(request).includes('fatal')) return [];
      asked += 1;
      return asked > MAX_DEATHS
        ? [`the model was asked ${asked} times the question that kills the process`]
        : [];
    },
    atEnd: (simulation) => {
      const { observer, said, questions } = simulation;
      const fatal = said.find(({ text }) => text.includes('fatal'));
      const question = questions.find(({ text }) => fatal?.text.startsWith(`${text},`) === true);
      if (question === undefined) return [];
      const turn = findQuestionRow(question, simulation)?.turn_id ?? '';
      const state = observer.tables.turns.get(turn)?.state;
      const isTold = [...observer.tables.parts.values()].some(
        (part) => part.chat.endsWith(`:${question.chat}`) && part.state === 'sent',
      );
      const isListed = [...observer.tables.deadLetters.values()].some(
        (one) => one.subject === turn,
      );
      return [
        ...(state === 'failed' ? [] : [`the turn of ${question.text} is ${state}`]),
        ...(isListed ? [] : [`${question.text} is missing from the dead letters`]),
        ...(isTold ? [] : [`no chat was told that ${question.text} was given up`]),
      ];
    },
  };
};

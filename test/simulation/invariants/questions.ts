import type { MessageRow } from '../observe.ts';
import type { PersonQuestion } from '../records.ts';
import { findAnsweredQuestions } from '../said.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';
import { findWriter, listWithheldParts } from './withheld.ts';

/** Every accepted question is answered, or its chat is notified of the reason (D01). */
export const nothingForgotten: MakeInvariant = () => ({
  id: 'D01',
  atEnd: (simulation) =>
    simulation.questions
      .filter((question) => !question.isWithdrawn && !isSettled(question, simulation))
      .map(({ text, chat }) => `${text} of ${chat} was never answered, and no chat was told why`),
});

/** A question is answered once (D04) and in order (D02). */
export const answersInOrder: MakeInvariant = () => {
  const answered = new Map<string, string>();
  const last = new Map<string, number>();
  return {
    id: 'D02',
    afterStep: ({ changes }, simulation) =>
      changes.flatMap((change) => {
        if (change.kind !== 'sent') return [];
        const shown = simulation.shownPart(change.part);
        return findAnsweredQuestions(shown?.text ?? '').flatMap((question) => {
          const by = answered.get(question);
          if (by === change.part || simulation.lost.has(question)) return [];
          if (by !== undefined) return [`${question} was answered by ${by} and by ${change.part}`];
          answered.set(question, change.part);
          const number = Number(question.slice(1));
          const before = last.get(change.chat) ?? 0;
          last.set(change.chat, Math.max(before, number));
          return number < before ? [`${question} was answered after q${before}`] : [];
        });
      }),
  };
};

/** The row of a question; undefined before it is stored and after it was removed. */
export function findQuestionRow(
  { id, platform, chat }: PersonQuestion,
  { observer }: Simulation,
): MessageRow | undefined {
  return [...observer.tables.messages.values()].find(
    ({ message_id, conversation_id: conversation }) =>
      message_id === id && conversation.startsWith(`${platform}:`) && conversation.includes(chat),
  );
}

function isSettled(question: PersonQuestion, simulation: Simulation): boolean {
  if (simulation.answers(question.text) > 0 || simulation.lost.has(question.text)) return true;
  const row = findQuestionRow(question, simulation);
  // A turn that was given up is reported in its chat and listed as a dead letter; the same holds
  // for a part of its answer.
  if (row?.state !== 'done' || row.turn_id === null) return false;
  // A person has answered instead of the agent.
  if (findWriter(row.turn_id, simulation) !== null) return true;
  const { deadLetters, parts } = simulation.observer.tables;
  const ids = [...parts.values()].filter(({ turn_id }) => turn_id === row.turn_id);
  const withheld = listWithheldParts(simulation);
  if (ids.some(({ id }) => withheld.has(id))) return true;
  const subjects = new Set([row.turn_id, String(row.seq), ...ids.map(({ id }) => id)]);
  return [...deadLetters.values()].some(({ subject }) => subjects.has(subject));
}

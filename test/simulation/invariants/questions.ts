import type { Question } from '../result.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/** Every question that was accepted is answered, or somebody is told why not (D01). */
export const nothingForgotten: MakeInvariant = () => ({
  id: 'D01',
  atEnd: (simulation) =>
    simulation.questions
      .filter((question) => !isSettled(question, simulation))
      .map(({ text, chat }) => `${text} of ${chat} was never answered, and nobody was told why`),
});

/** A question is answered once (D04) and in its turn (D02). */
export const answersInOrder: MakeInvariant = () => {
  const answered = new Map<string, string>();
  const last = new Map<string, number>();
  return {
    id: 'D02',
    afterStep: ({ changes }, simulation) =>
      changes.flatMap((change) => {
        if (change.kind !== 'sent') return [];
        const shown = simulation.shownPart(change.part);
        return (shown?.text.match(/\bq\d+\b/g) ?? []).flatMap((question) => {
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

function isSettled({ id, text, chat }: Question, simulation: Simulation): boolean {
  if (simulation.answers(text) > 0 || simulation.lost.has(text)) return true;
  const { observer } = simulation;
  const row = observer.messageOf(id, chat);
  // A turn that was given up says so in its chat, and stands among the dead letters; so does an uncertain part.
  if (row?.state !== 'done' || row.turn_id === null) return false;
  const dead = new Set([...observer.tables.deadLetters.values()].map(({ subject }) => subject));
  const parts = [...observer.tables.parts.values()].filter((part) => part.turn_id === row.turn_id);
  return [row.turn_id, String(row.seq), ...parts.map((part) => part.id)].some((subject) =>
    dead.has(subject),
  );
}

import { existsSync, readFileSync } from 'node:fs';
import { LEDGER } from '../scenes/ledger.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';
import { createJournalReader, type JournalCall } from './journal.ts';
import { findQuestionRow } from './questions.ts';

/** The effect of a tool outside Parley's tables exists once per call, and persists (G16, D04). */
export const effectsOnce: MakeInvariant = () => {
  const read = createJournalReader();
  const calls = new Map<string, JournalCall>();
  const succeeded = new Set<string>();
  const lists = new Map<string, string>();
  const listed = new Set<string>();
  const notes = new Map<string, string>();
  return {
    id: 'G16',
    afterChange: (simulation) => {
      for (const { call, failed, calls: made, kind } of read(simulation)) {
        for (const one of made) calls.set(one.key, one);
        if (kind === 'result' && call !== undefined && !failed) succeeded.add(call);
      }
      const wrong = [
        ...findRepeatedMarks(listMarks(simulation)),
        ...findRewrittenLists(simulation, lists, listed),
      ];
      return wrong.filter(({ mark }) => !wasGivenUp(mark, simulation)).map(({ what }) => what);
    },
    afterStep: ({ changes }, simulation) =>
      changes.flatMap((change) => {
        if (change.kind !== 'sent') return [];
        return (simulation.shownPart(change.part)?.text.match(/\bnote\d+\b/g) ?? []).flatMap(
          (note) => {
            const by = notes.get(note) ?? change.part;
            notes.set(note, by);
            const isOnce = by === change.part || wasGivenUp(note, simulation);
            return isOnce ? [] : [`${note} was sent as ${by} and as ${change.part}`];
          },
        );
      }),
    atEnd: (simulation) => {
      const marks = new Set(listMarks(simulation));
      return [...succeeded].flatMap((key) => {
        const { name, arguments: given } = calls.get(key) ?? { name: '', arguments: '' };
        const [mark] = given.match(/\bm\d+-\d+-\d+\b/) ?? [];
        if (name === 'edit' && mark !== undefined && !marks.has(mark)) {
          return [`${mark} was written according to its call, but is missing`];
        }
        const [note] = given.match(/\bnote\d+\b/) ?? [];
        if (name !== 'message' || note === undefined || notes.has(note)) return [];
        return hasDeadLetter(simulation) ? [] : [`${note} was never sent`];
      });
    },
  };
};

/** The marks in the ledger, in order. */
export function listMarks({ deployment }: Simulation): readonly string[] {
  const path = deployment.pathOf(LEDGER);
  return existsSync(path) ? (readFileSync(path, 'utf8').match(/\bm\d+-\d+-\d+\b/g) ?? []) : [];
}

/**
 * When a turn is given up, the model receives its question again with the next turn, and may act on
 * it then.
 */
function wasGivenUp(mark: string, simulation: Simulation): boolean {
  const [number] = mark.match(/\d+/) ?? [];
  const question = simulation.questions.find(({ text }) => text === `q${number}`);
  const turn = question && findQuestionRow(question, simulation)?.turn_id;
  const dead = [...simulation.observer.tables.deadLetters.values()];
  return dead.some(({ subject }) => subject === turn);
}

interface RepeatedMark {
  readonly mark: string;
  readonly what: string;
}

function findRepeatedMarks(marks: readonly string[]): readonly RepeatedMark[] {
  const again = marks.filter((mark, at) => marks.indexOf(mark) !== at);
  return again.map((mark) => ({ mark, what: `${mark} was written twice` }));
}

interface TodoListRow {
  readonly conversation: string;
  readonly content: string;
  readonly at: number;
}

/**
 * A list is replaced as a whole, so only the timestamp of its row shows that the same call has
 * written it again.
 */
function findRewrittenLists(
  { observer }: Simulation,
  lists: Map<string, string>,
  listed: Set<string>,
): readonly RepeatedMark[] {
  const rows = observer.rows<TodoListRow>(
    'select conversation_id as conversation, content, written_at as at from todo_list',
  );
  return rows.flatMap(({ conversation, content, at }) => {
    const now = `${at} ${content}`;
    if (lists.get(conversation) === now) return [];
    lists.set(conversation, now);
    const [mark] = content.match(/\bm\d+-\d+-\d+\b/) ?? [];
    if (mark === undefined) return [];
    const isKnown = listed.has(mark);
    listed.add(mark);
    return isKnown ? [{ mark, what: `the list with ${mark} was written twice` }] : [];
  });
}

/**
 * Whether a message became a dead letter because the platform refused it permanently, which is
 * reported.
 */
function hasDeadLetter({ observer }: Simulation): boolean {
  return observer.tables.deadLetters.size > 0;
}

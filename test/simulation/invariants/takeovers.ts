import type { TableChange } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';
import { findQuestionRow } from './questions.ts';
import { findWriter } from './withheld.ts';

/** The ids of the conversations that a person has taken over. */
function listTakenOver(simulation: Simulation): ReadonlySet<string> {
  const { observer, time } = simulation;
  const rows = observer.rows<{ readonly id: string }>(
    'select id from conversation where taken_over_until > ?',
    simulation.databaseTime(time.now),
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Describes what the agent wrongly does in a conversation that a person has taken over; undefined
 * when it does nothing.
 */
function describeAgentAct(
  change: TableChange,
  attempts: ReadonlyMap<string, number>,
): string | undefined {
  if (change.kind === 'message' && change.to === 'claimed' && change.from === 'waiting')
    return `message ${change.message} was claimed by ${change.turn}`;
  if (change.kind !== 'turn') return undefined;
  const { turn, from, to } = change;
  if (to === 'running' && from === null) return `${turn} began`;
  if (to === 'running' && change.attempts > (attempts.get(turn) ?? 0)) return `${turn} was resumed`;
  return from === 'running' && to === 'answered' ? `${turn} answered` : undefined;
}

/**
 * While a person has taken over a conversation, the agent neither starts, resumes nor answers there
 * (U12). Steps in which a takeover starts or ends are exempt: transactions requested together share
 * a commit.
 */
export const silentWhileTakenOver: MakeInvariant = () => {
  let before: ReadonlySet<string> = new Set();
  const attempts = new Map<string, number>();
  return {
    id: 'U12',
    afterStep: ({ changes }, simulation) => {
      const now = listTakenOver(simulation);
      const isLed = (conversation: string) => before.has(conversation) && now.has(conversation);
      const wrong = changes.flatMap((change) => {
        if (!('conversation' in change) || !isLed(change.conversation)) return [];
        const act = describeAgentAct(change, attempts);
        return act === undefined
          ? []
          : [`${act} in ${change.conversation}, which a person has taken over`];
      });
      for (const change of changes)
        if (change.kind === 'turn') attempts.set(change.turn, change.attempts);
      before = now;
      return wrong;
    },
  };
};

/** A message is answered by the agent or by a person, never by both (U12). */
export const answeredByOne: MakeInvariant = () => ({
  id: 'U12',
  atEnd: (simulation) =>
    simulation.questions.flatMap((question) => {
      const turn = findQuestionRow(question, simulation)?.turn_id;
      const by = turn == null ? null : findWriter(turn, simulation);
      if (by === null || simulation.answers(question.text) === 0) return [];
      return [`${question.text} was answered by ${by}, and by the agent as well`];
    }),
});

/** A reply that a person has sent, and its conversation. */
export interface SentText {
  readonly word: string;
  readonly conversation: string;
}

/** A person's reply is shown once, however often the page has requested it (U12). */
export const shownOnce =
  (sent: (simulation: Simulation) => readonly SentText[]): MakeInvariant =>
  () => ({
    id: 'U12',
    atEnd: (simulation) => {
      const { platforms, observer } = simulation;
      const shown = [...platforms.values()].flatMap(({ sending }) => sending.shown);
      const dead = new Set([...observer.tables.deadLetters.values()].map(({ subject }) => subject));
      return sent(simulation).flatMap(({ word }) => {
        const times = shown.filter(({ text }) => hasWord(text, word)).length;
        if (times === 1) return [];
        const parts = observer.rows<{ readonly id: string }>(
          'select id from outbox where body like ?',
          `%Reply ${word}.%`,
        );
        const isGivenUp = times === 0 && parts.length === 1 && dead.has(parts[0]?.id ?? '');
        return isGivenUp ? [] : [`reply ${word} was shown ${times} times`];
      });
    },
  });

/** The agent's next turn in the conversation includes the text that a person wrote there (U12). */
export const repliesAreHistory =
  (sent: (simulation: Simulation) => readonly SentText[]): MakeInvariant =>
  () => {
    const stored = new Map<string, number>();
    return {
      id: 'U12',
      afterStep: ({ changes, at }, simulation) => {
        for (const change of changes) {
          if (change.kind !== 'turn' || change.from !== null || change.to !== 'answered') continue;
          if (findWriter(change.turn, simulation) !== null) stored.set(change.turn, at);
        }
        return [];
      },
      atEnd: (simulation) => {
        const { requests, observer } = simulation;
        return sent(simulation).flatMap(({ word, conversation }) => {
          const [row] = observer.rows<{ readonly turn: string }>(
            'select turn_id as turn from outbox where body like ?',
            `%Reply ${word}.%`,
          );
          const at = stored.get(row?.turn ?? '') ?? Number.POSITIVE_INFINITY;
          const [next] = observer.rows<{ readonly id: string }>(
            `select id from turn where conversation_id = ? and written_by is null and started_at > ?
             order by started_at limit 1`,
            conversation,
            simulation.databaseTime(at),
          );
          if (next === undefined) return [];
          const messages = [...observer.tables.messages.values()];
          const ids = new Set(
            messages.filter((one) => one.turn_id === next.id).map((one) => one.message_id),
          );
          const asked = simulation.questions.filter(({ id }) => ids.has(id));
          const own = requests.filter(({ messages: said }) =>
            asked.some(({ text }) => hasWord(said.at(-1)?.text ?? '', text)),
          );
          if (own.length === 0 || own.some(({ body }) => hasWord(body, word))) return [];
          return [`the turn of ${asked[0]?.text} did not know the reply ${word}`];
        });
      },
    };
  };

function hasWord(text: string, word: string): boolean {
  return new RegExp(String.raw`\b${word}\b`).test(text);
}

import type { RecordedRequest } from '../records.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/** The notice in the agent's history after an answer that may not have arrived. */
const TOLD = 'Part of your last answer may not have reached this chat';

/** The questions in the last message of a request. */
function findAskedQuestions({ messages }: RecordedRequest): readonly string[] {
  return messages.at(-1)?.text.match(/\bq\d+\b/g) ?? [];
}

/** The turn that a question is part of. */
function findTurn(
  question: string,
  { questions, observer }: Simulation,
): string | null | undefined {
  const asked = questions.find(({ text }) => text === question);
  if (asked === undefined) return undefined;
  const { id, chat, platform } = asked;
  return [...observer.tables.messages.values()].find(
    ({ message_id, conversation_id }) =>
      message_id === id && conversation_id.includes(platform) && conversation_id.includes(chat),
  )?.turn_id;
}

/**
 * After a part that the platform refused, or that may not have arrived, the agent is notified with
 * its next turn (D05).
 */
export const agentIsTold: MakeInvariant = () => {
  const began = new Map<string, { readonly at: number; readonly conversation: string }>();
  const lost = new Map<string, number>();
  return {
    id: 'D05',
    afterStep: ({ at, changes }) => {
      // Work missing from an older copy of the database cannot be reported.
      if (changes.some(({ kind }) => kind === 'rewound')) lost.clear();
      for (const change of changes) {
        // An older copy does not contain these turns or the outcome of their answers.
        if (change.kind === 'rewound' && change.by === 'older-copy') {
          began.clear();
          lost.clear();
        }
        // A turn that a person wrote does not cause a model request.
        if (change.kind === 'turn' && change.from === null && change.to === 'running')
          began.set(change.turn, { at, conversation: change.conversation });
        if (change.kind !== 'part' || change.turn === null || lost.has(change.turn)) continue;
        if (change.to === 'failed' || change.to === 'unknown') lost.set(change.turn, at);
      }
      return [];
    },
    atEnd: (simulation) =>
      simulation.requests.flatMap((request) => {
        const [question] = findAskedQuestions(request);
        const turn = question === undefined ? null : findTurn(question, simulation);
        const own = turn == null ? undefined : began.get(turn);
        if (own === undefined) return [];
        const before = [...lost].find(
          ([other, since]) =>
            began.get(other)?.conversation === own.conversation && since < own.at - 1,
        );
        if (before === undefined || request.body.includes(TOLD)) return [];
        return [
          `the turn of ${question} was not told that the answer of ${before[0]} may be missing`,
        ];
      }),
  };
};

/** Text from one chat never appears in a request for another chat. */
export const chatsAreApart: MakeInvariant = () => ({
  id: 'F02',
  atEnd: ({ requests, questions }) => {
    const chats = new Map(
      questions.map((one) => [one.text, `${one.platform} ${one.account} ${one.chat}`]),
    );
    return requests.flatMap((request) => {
      const words = request.body.match(/\b[qc]\d+\b/g) ?? [];
      const named = new Set(words.flatMap((word) => chats.get(word) ?? []));
      return named.size > 1 ? [`one request contains words of ${[...named].join(' and ')}`] : [];
    });
  },
});

/**
 * Group messages that do not address the bot become context for the next turn in the group (F06).
 */
export const contextIsHeard: MakeInvariant = () => ({
  id: 'F06',
  atEnd: (simulation) => {
    const { questions, remarks, requests } = simulation;
    const heard = new Set(requests.flatMap(({ body }) => body.match(/\bc\d+\b/g) ?? []));
    return remarks.flatMap(({ text, chat, platform, account, at }) => {
      if (simulation.answers(text) > 0)
        return [`${text} was answered, though it did not address the bot`];
      const next = questions.find(
        (one) =>
          one.at > at &&
          one.chat === chat &&
          one.platform === platform &&
          one.account === account &&
          simulation.answers(one.text) > 0,
      );
      return next === undefined || heard.has(text)
        ? []
        : [`${text} was said in ${chat} before ${next.text}, but the agent never heard it`];
    });
  },
});

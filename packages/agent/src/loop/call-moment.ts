import type { InboundMessage, Reader } from '@parley/contracts';
import { hasForeignWords } from '../approvals/foreign-words.ts';
import type { CallMoment } from '../tools/tool.ts';
import type { TurnJournal } from './turn-journal.ts';

/** What stands behind a turn whose messages are Parley’s own: a task of the owner, or of another turn. */
export interface TurnOrigin {
  /** Words of people. */
  readonly said: readonly string[];
  /** The turn that it comes from held words of outsiders. */
  readonly foreignWords: boolean;
}

/** Whom a turn answers, and from what. */
export interface TurnSoFar {
  readonly reader: Reader;
  readonly messages?: readonly InboundMessage[];
  readonly origin?: TurnOrigin;
}

/** What has been said in a turn up to now, from its messages and its journal. */
export function momentOf(
  { reader, messages: begunWith = [], origin }: TurnSoFar,
  journal: Pick<TurnJournal, 'rounds' | 'joined'>,
): CallMoment {
  const messages = [...begunWith, ...journal.joined().map(({ message }) => message)];
  const results = journal
    .rounds()
    .flatMap(({ calls }) =>
      calls.flatMap(({ call: { name: tool }, result }) =>
        result === null ? [] : [{ tool, ...result }],
      ),
    );
  // What Parley itself put there (the end of a sub-agent, say) the model may have written; a job not.
  const said = messages.flatMap(({ text, occasion }) =>
    occasion === undefined || occasion === 'cron' ? text : [],
  );
  return {
    reader,
    said: [...(origin?.said ?? []), ...said],
    quoted: messages.flatMap(({ replyTo }) => replyTo?.text ?? []),
    results: results.map(({ tool, text }) => ({ tool, text })),
    foreignWords: hasForeignWords({ messages, results, inherited: origin?.foreignWords === true }),
  };
}

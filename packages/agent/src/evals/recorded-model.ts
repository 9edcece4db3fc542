import { type ChatModel, ModelError } from '@parley/models';
import type { RecordedAnswer } from './eval-case.ts';

const ID = 'recorded/model';

/**
 * A model that gives the recorded answers of a case, one for each request. A turn that asks more
 * often than the recorded one gets a ModelError.
 */
export function createRecordedModel(answers: readonly RecordedAnswer[]): ChatModel {
  const left = [...answers];
  return {
    id: ID,
    async *stream() {
      const answer = left.shift();
      if (answer === undefined)
        throw new ModelError(
          { kind: 'unreachable' },
          ID,
          `The turn asks the model more often than the ${answers.length} recorded answers allow. Run the case with --live, and record its answers again with --record.`,
        );
      const { text, calls } = answer;
      if (text !== '') yield { type: 'text', text };
      for (const [at, call] of calls.entries())
        yield { type: 'tool-call', call: { id: `call-${at}`, ...call } };
      const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, estimated: true };
      const finishReason = calls.length === 0 ? 'stop' : 'tool-calls';
      yield { type: 'finish', text, usage, finishReason, model: ID, costUsd: null };
    },
  };
}

import type { AnswerPart } from '../answer-parts.ts';
import type { ModelRequest } from '../chat-model.ts';
import { requestsWithoutReasoning } from './past-reasoning.ts';
import { createReasoningHabit } from './reasoning-habit.ts';
import { separateParts } from './separate-parts.ts';

/** Separation for one model, so that reasoning is never part of its answers or requests. */
export interface Separation {
  clean(request: ModelRequest): ModelRequest;
  separate(parts: AsyncIterable<AnswerPart>, request: ModelRequest): AsyncIterable<AnswerPart>;
}

/**
 * `maxCall`: the longest call in the text, in characters. Loaded with the first call of a provider.
 */
export function openSeparation(model: string, maxCall: number): Separation {
  const habit = createReasoningHabit(model);
  return {
    clean: requestsWithoutReasoning(),
    separate: (parts, request) => separateParts(parts, request, habit, maxCall),
  };
}

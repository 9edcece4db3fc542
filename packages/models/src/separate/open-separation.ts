import type { AnswerPart } from '../answer-parts.ts';
import type { ModelRequest } from '../chat-model.ts';
import { createReasoningRemover } from './past-reasoning.ts';
import { createReasoningStartTracker } from './reasoning-habit.ts';
import { separateParts } from './separate-parts.ts';

/**
 * Separates the text of one model, so that reasoning never becomes part of its answers or requests.
 */
export interface ModelSeparation {
  clean(request: ModelRequest): ModelRequest;
  separate(parts: AsyncIterable<AnswerPart>, request: ModelRequest): AsyncIterable<AnswerPart>;
}

/**
 * `maxCall`: the maximum length of a call in the text, in characters. The module is loaded with a
 * provider's first call.
 */
export function openSeparation(model: string, maxCall: number): ModelSeparation {
  const habit = createReasoningStartTracker(model);
  return {
    clean: createReasoningRemover(),
    separate: (parts, request) => separateParts(parts, request, habit, maxCall),
  };
}

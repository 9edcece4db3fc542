import type { ModelRequest } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import type { StepUsage } from '../final-step.ts';

/**
 * What a call has used that was ended before it could say so: guessed from what was sent and said. The
 * request is paid for all the same. Pictures are not counted, nor money: what was cached nobody knows.
 */
export function cutOffUsage(model: string, request: ModelRequest, said: string): StepUsage {
  const { system, messages, tools = [] } = request;
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...tools.map((tool) => JSON.stringify(tool)),
  ];
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { model, inputTokens, outputTokens: estimateTokens(said), costUsd: null };
}

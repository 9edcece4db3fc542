import type { ModelMessage, UserMessage } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import type { RequestSize } from './history-budget.ts';

/** What a request holds besides the past. */
export interface RequestPieces {
  readonly system: readonly { readonly tokens: number }[];
  readonly tools: { readonly tokens: number };
  /** What the turn has done so far. */
  readonly rounds: readonly ModelMessage[];
  readonly now: UserMessage;
}

/** What one picture costs, about, in tokens. */
const PICTURE = 1_000;

/** About how many tokens a request costs without its past. */
export function requestSize({ system, tools, rounds, now }: RequestPieces): RequestSize {
  const prompt = system.reduce((sum, { tokens }) => sum + tokens, tools.tokens);
  const fixed = rounds.flatMap(wordsIn).reduce((sum, text) => sum + estimateTokens(text), prompt);
  const pictures = (now.images?.length ?? 0) * PICTURE;
  return { fixed: fixed + pictures, now: estimateTokens(now.content) };
}

/** All that a message costs, in words. */
export function wordsIn(message: ModelMessage): readonly string[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [message.content, ...calls.map((call) => call.arguments)];
}

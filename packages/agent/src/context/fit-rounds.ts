import type { ModelMessage } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import { fitText } from './fit-text.ts';
import { wordsIn } from './request-size.ts';

/** What is left of a result at least, in tokens. */
const LEAST = 50;
/** A last line up to this length stays, in characters: it may be the end of a frame around foreign text. */
const LONGEST_LAST_LINE = 200;

/**
 * What a turn has done so far within a budget of tokens: the longest results of tools are cut, all to the
 * same length, and say so. Calls, and what the model said itself, stay as they are. The journal keeps all.
 */
export function fitRounds(
  messages: readonly ModelMessage[],
  budget: number,
): readonly ModelMessage[] {
  const sizes = messages.map(sizeOf);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= budget) return messages;
  const results = messages.flatMap((message, at) =>
    message.role === 'tool' ? [sizes[at] ?? 0] : [],
  );
  const others = all - results.reduce((sum, size) => sum + size, 0);
  const limit = Math.max(LEAST, commonLimit(results, budget - others));
  return messages.map((message, at) =>
    message.role === 'tool' && (sizes[at] ?? 0) > limit
      ? { ...message, content: shortened(message.content, limit) }
      : message,
  );
}

function sizeOf(message: ModelMessage): number {
  return wordsIn(message).reduce((sum, text) => sum + estimateTokens(text), 0);
}

/** The length to which the longest must come down so that all have room together. */
function commonLimit(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (sizes.length - at));
    if (size > each) return each;
    left -= size;
  }
  return left;
}

function shortened(text: string, tokens: number): string {
  const end = text.lastIndexOf('\n');
  const lastLine = end === -1 ? '' : text.slice(end);
  if (lastLine.length > LONGEST_LAST_LINE) return fitText(text, tokens, 'this result');
  const room = Math.max(0, tokens - estimateTokens(lastLine));
  return `${fitText(text.slice(0, text.length - lastLine.length), room, 'this result')}${lastLine}`;
}

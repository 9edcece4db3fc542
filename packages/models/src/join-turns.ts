import type { ModelImage, ModelMessage } from './chat-model.ts';

/** The messages without empty ones, with neighbors of one role joined: many chat templates insist on turns. */
export function joinTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    if (isEmptyMessage(message)) continue;
    const joined = joinNeighbors(turns.at(-1), message);
    if (joined === null) turns.push(message);
    else turns[turns.length - 1] = joined;
  }
  return turns;
}

/** Two neighbours as one message; null where they stay two. Each result of a tool stays its own. */
function joinNeighbors(
  previous: ModelMessage | undefined,
  next: ModelMessage,
): ModelMessage | null {
  if (previous?.role === 'user' && next.role === 'user') {
    const images = [...imagesOf(previous), ...imagesOf(next)];
    return {
      ...previous,
      content: paragraphs(previous, next),
      ...(images.length > 0 && { images }),
    };
  }
  // What was said after a call belongs after its result.
  if (previous?.role !== 'assistant' || next.role !== 'assistant' || previous.toolCalls)
    return null;
  return { ...next, content: paragraphs(previous, next) };
}

function paragraphs(...messages: readonly ModelMessage[]): string {
  return messages
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n\n');
}

function isEmptyMessage(message: ModelMessage): boolean {
  if (message.role === 'tool' || message.content.trim() !== '') return false;
  if (message.role === 'assistant') return (message.toolCalls?.length ?? 0) === 0;
  return imagesOf(message).length === 0;
}

/** The pictures of a message; only people send some. */
export function imagesOf(message: ModelMessage): readonly ModelImage[] {
  return message.role === 'user' ? (message.images ?? []) : [];
}

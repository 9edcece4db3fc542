import type { ModelImage, ModelMessage } from './chat-model.ts';

/**
 * Drops empty messages and joins adjacent ones of the same role, because many chat templates insist
 * that roles alternate.
 */
export function joinAdjacentMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    if (isEmptyMessage(message)) continue;
    const joined = joinMessagePair(turns.at(-1), message);
    if (joined === null) turns.push(message);
    else turns[turns.length - 1] = joined;
  }
  return turns;
}

/**
 * Joins two adjacent messages; null if they must stay separate. Each tool result stays separate.
 */
function joinMessagePair(
  previous: ModelMessage | undefined,
  next: ModelMessage,
): ModelMessage | null {
  if (previous?.role === 'user' && next.role === 'user') {
    const images = [...getImages(previous), ...getImages(next)];
    return {
      ...previous,
      content: joinParagraphs(previous, next),
      ...(images.length > 0 && { images }),
    };
  }
  // Text written after a call belongs after its result.
  if (previous?.role !== 'assistant' || next.role !== 'assistant' || previous.toolCalls)
    return null;
  return { ...next, content: joinParagraphs(previous, next) };
}

function joinParagraphs(...messages: readonly ModelMessage[]): string {
  return messages
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n\n');
}

function isEmptyMessage(message: ModelMessage): boolean {
  if (message.role === 'tool' || message.content.trim() !== '') return false;
  if (message.role === 'assistant') return (message.toolCalls?.length ?? 0) === 0;
  return getImages(message).length === 0;
}

/** Returns the pictures in a message; only messages from people have any. */
export function getImages(message: ModelMessage): readonly ModelImage[] {
  return message.role === 'user' ? (message.images ?? []) : [];
}

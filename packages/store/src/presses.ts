import type { PartChange } from './outbox-parts.ts';

/**
 * A stored part with buttons. `messageId` is null while it is unknown whether and where it was
 * delivered.
 */
export interface PressableMessage {
  readonly messageId: string | null;
  readonly changed: PartChange | null;
  /** The texts that its buttons send. */
  readonly data: readonly string[];
  /** The commands for buttons that ask for text; the text follows the command. */
  readonly asks?: readonly string[];
}

/**
 * Whether a button press counts: the button belongs to a message as Parley stored and sent it, and
 * the message was never edited. People can press before its id is stored, or although sending it
 * seemed to fail; nothing can have edited it at that point.
 */
export function isPressOfMessage(
  messages: readonly PressableMessage[],
  { pressed, data }: { readonly pressed: string; readonly data: string },
): boolean {
  const offering = messages.filter((message) => isOffered(message, data));
  const itself = offering.find(({ messageId }) => messageId === pressed);
  if (itself !== undefined) return itself.changed === null;
  return offering.some(({ messageId, changed }) => messageId === null && changed === null);
}

function isOffered({ data: all, asks = [] }: PressableMessage, data: string): boolean {
  return all.includes(data) || asks.some((before) => data.startsWith(`${before} `));
}

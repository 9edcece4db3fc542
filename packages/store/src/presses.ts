import type { PartChange } from './outbox-parts.ts';

/**
 * A stored part with buttons; `messageId` is null while it is unknown whether and where the part
 * was delivered.
 */
export interface ButtonMessage {
  readonly messageId: string | null;
  readonly changed: PartChange | null;
  /** The text that each of the message's buttons sends. */
  readonly data: readonly string[];
  /** The commands sent by buttons that ask for text; the text is appended to the command. */
  readonly asks?: readonly string[];
}

/**
 * Whether a button press counts: the button is on a message that Parley stored and sent in this
 * form, and the message was never edited. A button may be pressed before the message id is stored,
 * or although sending seemed to fail; in both cases, the message cannot have been edited.
 */
export function isPressOnStoredMessage(
  messages: readonly ButtonMessage[],
  { pressed, data }: { readonly pressed: string; readonly data: string },
): boolean {
  const offering = messages.filter((message) => hasButtonData(message, data));
  const itself = offering.find(({ messageId }) => messageId === pressed);
  if (itself !== undefined) return itself.changed === null;
  return offering.some(({ messageId, changed }) => messageId === null && changed === null);
}

function hasButtonData({ data: all, asks = [] }: ButtonMessage, data: string): boolean {
  return all.includes(data) || asks.some((before) => data.startsWith(`${before} `));
}

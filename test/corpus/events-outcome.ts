import { getTypedText, hasOutsideText, type InboundMessage } from '@parley/core';
import { expect } from 'vitest';
import { z } from 'zod';

/**
 * What must follow from an event. `reads` and `never`: words of the user message that the model reads, or does not.
 * `text` is all that its sender wrote, as the adapter hands it over, and `typed` what of it counts as theirs (without it,
 * nothing does). `ignored`: nothing follows, and this is what `why` says; `nothing`: not even that.
 */
export const Expected = z.union([
  z.strictObject({
    about: z.string(),
    reads: z.array(z.string()).default([]),
    never: z.array(z.string()).default([]),
    text: z.string().optional(),
    typed: z.string().default(''),
    /** Whether anything in it was neither typed nor spoken by its sender. */
    outside: z.boolean().optional(),
    /** Kind and name of each file that comes along, and whether it may be seen once. */
    files: z.array(z.string()).default([]),
    addressed: z.boolean(),
    chat: z.enum(['direct', 'group', 'thread']),
    /** Id of the answered message. */
    replyTo: z.string().optional(),
    /** Edits are changes of what was said. */
    edits: z.literal(true).optional(),
  }),
  z.strictObject({ about: z.string(), ignored: z.string() }),
  z.strictObject({ about: z.string(), nothing: z.literal(true) }),
]);
export type ExpectedMessage = Extract<z.infer<typeof Expected>, { addressed: boolean }>;

/** What an adapter makes of an event: messages, changes of messages, and what it says about the rest. */
interface AdapterResult {
  readonly messages: readonly InboundMessage[];
  readonly revisions: readonly { readonly kind: string; readonly message?: InboundMessage }[];
  readonly notes: readonly { readonly reason: string }[];
}

/** The one message or edit that follows from an event; null where none is expected, and none came. */
export function getExpectedMessage(
  { messages, revisions, notes }: AdapterResult,
  expected: z.infer<typeof Expected>,
): { readonly message: InboundMessage; readonly expected: ExpectedMessage } | null {
  if ('nothing' in expected) {
    expect({ messages, notes }).toEqual({ messages: [], notes: [] });
    return null;
  }
  if ('ignored' in expected) {
    expect(messages).toEqual([]);
    expect(notes.map(({ reason }) => reason)).toEqual([expected.ignored]);
    return null;
  }
  const edited = revisions.flatMap(({ kind, message }) =>
    kind === 'edited' && message !== undefined ? [message] : [],
  );
  const [message, ...more] = expected.edits === true ? edited : messages;
  expect(more).toEqual([]);
  if (message === undefined) throw new Error('nothing followed');
  return { message, expected };
}

/** Checks what the adapter hands over. */
export function checkFacts(message: InboundMessage, expected: ExpectedMessage): void {
  const { text, typed, outside, replyTo, addressed, chat } = expected;
  if (text !== undefined) expect(message.text).toBe(text);
  expect(getTypedText(message)).toBe(typed);
  if (outside !== undefined) expect(hasOutsideText(message)).toBe(outside);
  const shown = (message.attachments ?? []).map(({ kind, name, viewOnce }) =>
    [viewOnce ? 'view-once' : '', kind, name].join(' ').trim(),
  );
  expect(shown).toEqual(expected.files);
  expect(message.addressed).toBe(addressed);
  expect(message.chat.type).toBe(chat);
  expect(message.replyTo?.messageId).toBe(replyTo);
}

/** Checks the user message that the model reads, as JSON. */
export function checkReading(words: string, { reads, never }: ExpectedMessage): void {
  // Quotation marks and new lines are escaped there; so are quotes of quotes.
  const plain = words.replaceAll(/\\+n/g, '\n').replaceAll(/\\+"/g, '"');
  for (const part of reads) expect(plain).toContain(part);
  for (const part of never) expect(plain).not.toContain(part);
}

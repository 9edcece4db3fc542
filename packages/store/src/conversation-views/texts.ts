import { InboundMessage, PartExtras, RenderedPart, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import { fromJson } from '../database.ts';

// Rows are read leniently: one that is damaged must hide neither a conversation nor a search.
const Said = InboundMessage.pick({
  text: true,
  typed: true,
  chat: true,
  sender: true,
  attachments: true,
  trigger: true,
});

/** What is shown of a message that came in. */
export type SaidMessage = z.infer<typeof Said>;

const Part = z.object({ plain: RenderedPart.shape.plain, file: PartExtras.shape.file });

/** A message as it is stored; null where it cannot be read. */
export function readSaid(stored: string): SaidMessage | null {
  return z.object(Said.shape).safeParse(parsed(stored)).data ?? null;
}

/** A part as it is stored: its text without markup, and its file. */
export function readSent(stored: string): z.infer<typeof Part> | null {
  return Part.safeParse(parsed(stored)).data ?? null;
}

/** The thread of a route, empty without one. */
export function threadOf(route: string): string {
  return z.object(ReplyRoute.shape).safeParse(parsed(route)).data?.threadId ?? '';
}

/** What a person wrote; null for what Parley itself put into a conversation. */
export function textOfMessage(stored: string): string | null {
  const said = readSaid(stored);
  return said === null || said.trigger !== undefined ? null : (said.typed ?? said.text);
}

export function textOfPart(stored: string): string | null {
  return readSent(stored)?.plain ?? null;
}

function parsed(text: string): unknown {
  try {
    return fromJson(text);
  } catch {
    return null;
  }
}

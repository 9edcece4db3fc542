import type { OutboundPart, PartExtras } from '@parley/core';

/** The optional fields of a part. */
interface PartOptions extends PartExtras {
  readonly threadId?: string;
  readonly replyToMessageId?: string;
  readonly plain?: string;
  readonly turnId?: string;
}

/** A part of an answer for a chat; `text` in Telegram's HTML. */
export function createPart(chatId: number, text: string, more: PartOptions = {}): OutboundPart {
  const { plain = 'plain', turnId = 't', buttons, file, ...place } = more;
  const target = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;
  const route = {
    channel: 'telegram',
    account: 'default',
    chatId: String(chatId),
    target,
    ...place,
  };
  return {
    id: 'part_1',
    idempotencyKey: 'k',
    turnId,
    index: 0,
    route,
    body: { text, plain },
    ...(buttons && { buttons }),
    ...(file && { file }),
  };
}

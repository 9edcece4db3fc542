import type { OutboundPart, ReplyRoute } from '@parley/core';
import type { MessageBody } from './api.ts';
import { layOutButtons } from './component-layout.ts';

/** Message flag: no previews for linked pages. */
const SUPPRESS_EMBEDS = 1 << 2;

/**
 * The body that creates or changes a message with this text. No one is notified unless the settings
 * allow mentions (M05).
 */
export function createContentBody(
  text: string,
  target: Pick<ReplyRoute['target'], 'mentions'>,
  linkPreviews: boolean,
): MessageBody {
  const parse = target.mentions === 'live' ? ['users', 'roles', 'everyone'] : [];
  return {
    content: text,
    allowed_mentions: { parse, replied_user: false },
    ...(linkPreviews ? {} : { flags: SUPPRESS_EMBEDS }),
  };
}

/** Fields of new messages only: the idempotency key, and the message to reply to. */
export function createOriginBody(nonce: string, replyTo: string | undefined): MessageBody {
  return {
    nonce,
    enforce_nonce: true,
    // The answer is sent even if the original message has been deleted.
    ...(replyTo === undefined
      ? {}
      : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}

/** The body with the text and buttons of a message part. */
export function createPartBody(part: OutboundPart, linkPreviews: boolean): MessageBody {
  const { body, buttons, route } = part;
  return {
    ...createContentBody(body.text, route.target, linkPreviews),
    ...(buttons === undefined ? {} : { components: layOutButtons(buttons) }),
  };
}

import type { Button, OutboundPart, ReplyRoute } from '@parley/core';
import type { MessageBody } from './api.ts';

/** Discord's limit for the text of a message. */
export const MAX_TEXT = 2_000;
/** `flags`: no previews of linked pages. */
const SUPPRESS_EMBEDS = 1 << 2;
const BUTTONS_IN_A_ROW = 5;
const ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;

/** Text of a message to create or change. It notifies no one unless the settings allow mentions (M05). */
export function contentBody(
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

/** Fields of a new message only: the idempotency key, and the message it replies to. */
export function originBody(nonce: string, replyTo: string | undefined): MessageBody {
  return {
    nonce,
    enforce_nonce: true,
    // The answer is sent even when the question is deleted by now.
    ...(replyTo === undefined
      ? {}
      : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}

/** A part's text and buttons. */
export function partBody(part: OutboundPart, linkPreviews: boolean): MessageBody {
  const { body, buttons, route } = part;
  return {
    ...contentBody(body.text, route.target, linkPreviews),
    ...(buttons === undefined ? {} : { components: rowsOf(buttons) }),
  };
}

/** Takes the buttons of a message away; its text stays. */
export const WITHOUT_BUTTONS: MessageBody = { components: [] };

function rowsOf(buttons: readonly Button[]): object[] {
  const rows: object[] = [];
  for (let start = 0; start < buttons.length; start += BUTTONS_IN_A_ROW) {
    const row = buttons.slice(start, start + BUTTONS_IN_A_ROW);
    rows.push({
      type: ROW,
      components: row.map(({ label, data }, place) => ({
        type: BUTTON,
        style: SECONDARY,
        label,
        custom_id: writeButtonId(start + place, data),
      })),
    });
  }
  return rows;
}

/** Discord refuses two buttons with the same id, so each starts with its index. At most 66 of 100 characters. */
function writeButtonId(place: number, data: string): string {
  return `${place}:${data}`;
}

/** The data of a pressed button; undefined when it is not a button of Parley. */
export function readButtonId(customId: string): string | undefined {
  return /^\d:([\s\S]+)$/.exec(customId)?.[1];
}

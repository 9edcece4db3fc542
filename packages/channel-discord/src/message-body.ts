import type { Button, OutboundPart, ReplyRoute } from '@parley/contracts';
import type { MessageBody } from './discord-api.ts';

/** Discord's limit for the text of a message. */
export const MAX_TEXT = 2_000;
/** `flags`: no previews of linked pages. */
const SUPPRESS_EMBEDS = 1 << 2;
const BUTTONS_IN_A_ROW = 5;
const ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;

/** What text may do: nobody is ever notified, unless the settings let mentions live (M05). */
type Target = ReplyRoute['target'];

/** What a message says, in the form that making and changing it share. */
export function contentBody(
  text: string,
  target: Pick<Target, 'mentions'>,
  linkPreviews: boolean,
): MessageBody {
  const parse = target.mentions === 'live' ? ['users', 'roles', 'everyone'] : [];
  return {
    content: text,
    allowed_mentions: { parse, replied_user: false },
    ...(linkPreviews ? {} : { flags: SUPPRESS_EMBEDS }),
  };
}

/** What only a new message has: the key by which Discord knows it again, and what it answers. */
export function originBody(nonce: string, replyTo: string | undefined): MessageBody {
  return {
    nonce,
    enforce_nonce: true,
    // An answer whose question is gone by now is sent all the same.
    ...(replyTo === undefined
      ? {}
      : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
  };
}

/** A part's words and buttons. */
export function partBody(part: OutboundPart, linkPreviews: boolean): MessageBody {
  const { body, buttons, route } = part;
  return {
    ...contentBody(body.text, route.target, linkPreviews),
    ...(buttons === undefined ? {} : { components: rowsOf(buttons) }),
  };
}

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

/** Discord refuses two buttons with the same id, so each has its place in front. At most 66 of 100 characters. */
function writeButtonId(place: number, data: string): string {
  return `${place}:${data}`;
}

/** The data of a pressed button; undefined when it is none of ours. */
export function readButtonId(customId: string): string | undefined {
  return /^\d:([\s\S]+)$/.exec(customId)?.[1];
}

import { withoutNulls } from '@parley/channels';
import { z } from 'zod';
import {
  kindNumber,
  Snowflake,
  text,
  toLenientField,
  toLenientList,
  WireMember,
  WireUser,
} from './wire.ts';

const WireAttachment = z.object({
  id: Snowflake,
  url: z.string().min(1),
  filename: z.string().catch('file'),
  /** The original name without its extension, before Discord removed some of its characters. */
  title: toLenientField(z.string()),
  /** The sender's alternative text for people who cannot see the picture. */
  description: toLenientField(z.string()),
  size: toLenientField(z.int().nonnegative()),
  content_type: toLenientField(z.string()),
  /** Present only on voice messages. */
  waveform: toLenientField(z.string()),
  duration_secs: toLenientField(z.number().nonnegative()),
  flags: toLenientField(z.int()),
});
export type WireAttachment = z.infer<typeof WireAttachment>;

const WireSticker = z.object({
  id: Snowflake,
  name: z.string().catch('unnamed'),
  format_type: kindNumber,
});
export type WireSticker = z.infer<typeof WireSticker>;

/**
 * A file that Discord displays although it is not an attachment: the picture in an embed, or a file
 * in a bot's gallery.
 */
export const WireMedia = z.object({
  url: text,
  proxy_url: toLenientField(z.string()),
  content_type: toLenientField(z.string()),
  description: toLenientField(z.string()),
  attachment_id: toLenientField(Snowflake),
});
export type WireMedia = z.infer<typeof WireMedia>;

const Named = z.object({ name: text, url: toLenientField(z.string()) });

const WireEmbed = z.object({
  type: toLenientField(z.string()),
  title: text,
  description: text,
  url: toLenientField(z.string()),
  timestamp: toLenientField(z.string()),
  author: toLenientField(Named),
  provider: toLenientField(Named),
  footer: toLenientField(z.object({ text })),
  fields: toLenientList(z.object({ name: text, value: text })),
  image: toLenientField(WireMedia),
  thumbnail: toLenientField(WireMedia),
  video: toLenientField(WireMedia),
});
export type WireEmbed = z.infer<typeof WireEmbed>;

const PollMedia = z.object({
  text,
  emoji: toLenientField(
    z.object({ id: toLenientField(Snowflake), name: toLenientField(z.string()) }),
  ),
});

/** A question with predefined answers. */
const WirePoll = z.object({
  question: PollMedia.catch({ text: '' }),
  answers: toLenientList(z.object({ answer_id: toLenientField(z.int()), poll_media: PollMedia })),
  allow_multiselect: toLenientField(z.boolean()),
  expiry: toLenientField(z.string()),
  results: toLenientField(
    z.object({
      is_finalized: toLenientField(z.boolean()),
      answer_counts: toLenientList(z.object({ id: z.int(), count: z.int() })),
    }),
  ),
});
export type WirePoll = z.infer<typeof WirePoll>;

const WireMention = WireUser.extend({ member: toLenientField(WireMember) });
export type WireMention = z.infer<typeof WireMention>;

/** Channels, people and roles offered by the message's menus. */
const Resolved = z.object({
  users: toLenientField(z.record(z.string(), WireUser)),
  roles: toLenientField(z.record(z.string(), Named)),
  channels: toLenientField(z.record(z.string(), Named)),
});

/** The content of a message; a forwarded message includes a copy of it. */
const content = {
  content: text,
  attachments: toLenientList(WireAttachment),
  embeds: toLenientList(WireEmbed),
  /**
   * The components are parsed one by one when they are shown, because each type has its own format.
   */
  components: z.array(z.unknown()).catch([]),
  sticker_items: toLenientList(WireSticker),
  /** The stickers in the format used before 2021. */
  stickers: toLenientList(WireSticker),
  poll: toLenientField(WirePoll),
  flags: kindNumber,
  mentions: toLenientList(WireMention),
  mention_channels: toLenientList(z.object({ id: Snowflake, name: z.string() })),
  resolved: toLenientField(Resolved),
  /** An invitation to a game or a shared listening session. */
  activity: toLenientField(z.object({ type: kindNumber })),
  application: toLenientField(z.object({ name: toLenientField(z.string()) })),
  shared_client_theme: toLenientField(z.object({})),
};

/** Names for malformed parts of a message, which cannot be read. */
const PARTS = {
  content: 'a text',
  attachments: 'a file',
  embeds: 'an embed',
  components: 'a part of the message',
  sticker_items: 'a sticker',
  poll: 'a poll',
  message_snapshots: 'a forwarded message',
  activity: 'an invitation',
} as const;

/** The names of parts that could not be parsed. */
function listUnparsedParts(sent: unknown, read: object): string[] {
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.entries(PARTS).flatMap(([name, what]) => {
    const before: unknown = Reflect.get(sent, name) ?? undefined;
    const after: unknown = Reflect.get(read, name);
    if (before === undefined || before === after) return [];
    const isRead = Array.isArray(after)
      ? Array.isArray(before) && before.length === after.length
      : typeof after === 'object' && typeof before === typeof after;
    return isRead ? [] : [what];
  });
}

function parseReference(sent: unknown): unknown {
  return typeof sent === 'object' && sent !== null
    ? Reflect.get(sent, 'referenced_message')
    : undefined;
}

/**
 * An object in Discord's format with the content of a message. If a field is malformed, only that
 * field is dropped; `lost` lists the dropped content.
 */
function withContent<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = z.object({ ...content, ...shape });
  return z.unknown().transform((sent, context) => {
    const read = fields.safeParse(withoutNulls(sent));
    if (read.success) {
      // Null if the message was deleted; absent if Discord did not look it up.
      const isAnsweredGone = parseReference(sent) === null;
      return { ...read.data, lost: listUnparsedParts(sent, read.data), isAnsweredGone };
    }
    context.addIssue({ code: 'custom', message: read.error.message });
    return z.NEVER;
  });
}

const WireContent = withContent({});
export type WireContent = z.infer<typeof WireContent>;

const snapshots = { message_snapshots: toLenientList(z.object({ message: WireContent })) };

const WireReference = z.object({
  type: kindNumber,
  message_id: toLenientField(Snowflake),
  channel_id: toLenientField(Snowflake),
  guild_id: toLenientField(Snowflake),
});

/** The original message of a reply. */
const WireAnswered = withContent({
  ...snapshots,
  id: toLenientField(Snowflake),
  type: kindNumber,
  author: WireUser,
  webhook_id: toLenientField(Snowflake),
  message_reference: toLenientField(WireReference),
});
export type WireAnswered = z.infer<typeof WireAnswered>;

/**
 * The fields of a message that Parley reads from the gateway and from REST; only the gateway
 * includes the server.
 */
export const WireMessage = withContent({
  ...snapshots,
  id: Snowflake,
  channel_id: Snowflake,
  guild_id: toLenientField(Snowflake),
  type: kindNumber,
  author: WireUser,
  member: toLenientField(WireMember),
  timestamp: text,
  edited_timestamp: toLenientField(z.string()),
  webhook_id: toLenientField(Snowflake),
  mention_roles: toLenientList(Snowflake),
  message_reference: toLenientField(WireReference),
  referenced_message: toLenientField(WireAnswered),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** The minimum that is needed to identify a message. */
export const WireMessageIds = z.object({ id: Snowflake, channel_id: Snowflake });

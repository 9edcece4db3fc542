import { withoutNulls } from '@parley/channels';
import { z } from 'zod';

/** A Discord id: a 64-bit number in decimal whose upper bits are a time. */
export const Snowflake = z.string().regex(/^\d{1,20}$/);

/** An object as Discord sends it; null counts as absent. */
const received = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(withoutNulls, z.object(shape));

export const WireUser = z.object({
  id: Snowflake,
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
  /** Discord itself. */
  system: z.boolean().optional(),
});
export type WireUser = z.infer<typeof WireUser>;

export const WireMember = z.object({
  nick: z.string().nullish(),
  roles: z.array(Snowflake).optional(),
  /** In this channel, in decimal; with commands and buttons only. */
  permissions: z.string().regex(/^\d+$/).optional(),
});
export type WireMember = z.infer<typeof WireMember>;

const WireAttachment = z.object({
  id: Snowflake,
  filename: z.string(),
  size: z.int().nonnegative(),
  url: z.string(),
  content_type: z.string().nullish(),
  /** Present on voice messages only. */
  waveform: z.string().nullish(),
});
export type WireAttachment = z.infer<typeof WireAttachment>;

const WireSticker = z.object({ id: Snowflake, name: z.string(), format_type: z.int() });

/** Text, files and stickers; a forwarded message carries a copy of these. */
const content = {
  content: z.string().default(''),
  attachments: z.array(WireAttachment).default([]),
  // Stickers of an unexpected form are dropped; the text matters more.
  sticker_items: z.array(WireSticker).default([]).catch([]),
};
const WireContent = z.object(content);
export type WireContent = z.infer<typeof WireContent>;

const WireMention = WireUser.extend({ member: WireMember.nullish() });
export type WireMention = z.infer<typeof WireMention>;

/** A question with answers to choose from. */
const WirePoll = z.object({
  question: z.object({ text: z.string().default('') }),
  answers: z
    .array(z.object({ poll_media: z.object({ text: z.string().default('') }) }))
    .default([]),
});
export type WirePoll = z.infer<typeof WirePoll>;

/** The message that another one replies to. */
const WireAnswered = z.object({
  ...content,
  id: Snowflake.optional(),
  author: WireUser,
  mentions: z.array(WireMention).default([]),
});

/** The fields Parley reads of a message, from gateway and REST; only the gateway adds the server. */
export const WireMessage = received({
  ...content,
  id: Snowflake,
  channel_id: Snowflake,
  guild_id: Snowflake.optional(),
  type: z.int(),
  author: WireUser,
  member: WireMember.nullish(),
  timestamp: z.string(),
  edited_timestamp: z.string().nullish(),
  webhook_id: Snowflake.nullish(),
  mentions: z.array(WireMention).default([]),
  mention_roles: z.array(Snowflake).default([]),
  message_reference: z
    .object({ type: z.int().default(0), message_id: Snowflake.optional() })
    .nullish(),
  referenced_message: WireAnswered.nullish().catch(undefined),
  poll: WirePoll.nullish().catch(undefined),
  message_snapshots: z
    .array(z.object({ message: WireContent }))
    .nullish()
    .catch(undefined),
});
export type WireMessage = z.infer<typeof WireMessage>;

/** One deleted message, or several. */
export const WireDeletion = received({
  channel_id: Snowflake,
  id: Snowflake.optional(),
  ids: z.array(Snowflake).optional(),
});

/** One emoji below a message, put there or taken back. Who it was, Discord says only of those added in a server. */
export const WireReaction = received({
  user_id: Snowflake,
  channel_id: Snowflake,
  message_id: Snowflake,
  guild_id: Snowflake.optional(),
  member: WireMember.extend({ user: WireUser.optional() }).nullish(),
  emoji: z.object({ id: Snowflake.nullish(), name: z.string().nullish() }),
});
export type WireReaction = z.infer<typeof WireReaction>;

/** The fields Parley reads of a channel. Types: 1 direct, 3 group of friends, 10–12 threads. */
export const WireChannel = received({
  id: Snowflake,
  type: z.int(),
  guild_id: Snowflake.nullish(),
  name: z.string().nullish(),
  parent_id: Snowflake.nullish(),
  owner_id: Snowflake.nullish(),
  last_message_id: Snowflake.nullish(),
});
export type WireChannel = z.infer<typeof WireChannel>;

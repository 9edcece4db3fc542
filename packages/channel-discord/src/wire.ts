import { withoutNulls } from '@parley/channels';
import { z } from 'zod';

/** A Discord id: a 64-bit number in decimal whose upper bits are a timestamp. */
export const Snowflake = z.string().regex(/^\d{1,20}$/);

/** A text field; a malformed value becomes an empty string. */
export const text = z.string().catch('');

/** A field that may be absent; if it is malformed, only this field is dropped. */
export function toLenientField<Type extends z.ZodType>(type: Type) {
  return type.optional().catch(undefined);
}

/** A type number or flags, which may be written as text; 0 for any other value. */
export const kindNumber = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ])
  .catch(0);

/** A list without its malformed items. */
export function toLenientList<Type extends z.ZodType>(type: Type) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((all) =>
      all.flatMap((one): z.output<Type>[] => {
        const read = type.safeParse(one);
        return read.success ? [read.data] : [];
      }),
    );
}

/** An object as Discord sends it; null counts as absent. */
const received = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(withoutNulls, z.object(shape));

export const WireUser = z.object({
  id: Snowflake,
  username: z.string().catch('unknown'),
  global_name: toLenientField(z.string()),
  bot: toLenientField(z.boolean()),
  /** Whether the account is Discord itself. */
  system: toLenientField(z.boolean()),
});
export type WireUser = z.infer<typeof WireUser>;

export const WireMember = z.object({
  nick: toLenientField(z.string()),
  roles: toLenientField(toLenientList(Snowflake)),
  /**
   * The member's permissions in this channel, in decimal; present only with commands and buttons.
   */
  permissions: toLenientField(z.string().regex(/^\d+$/)),
});
export type WireMember = z.infer<typeof WireMember>;

/** The deletion of one or more messages. */
export const WireDeletion = received({
  channel_id: Snowflake,
  id: Snowflake.optional(),
  ids: z.array(Snowflake).optional(),
});

/**
 * The addition or removal of one emoji on a message. Discord includes the person's profile only for
 * an addition in a server.
 */
export const WireReaction = received({
  user_id: Snowflake,
  channel_id: Snowflake,
  message_id: Snowflake,
  guild_id: Snowflake.optional(),
  member: toLenientField(WireMember.extend({ user: toLenientField(WireUser) })),
  emoji: z.object({ id: toLenientField(Snowflake), name: toLenientField(z.string()) }).catch({}),
});
export type WireReaction = z.infer<typeof WireReaction>;

/** A moderator has removed all reactions to a message, or all reactions with one emoji. */
export const WireClearedReactions = received({
  channel_id: Snowflake,
  message_id: Snowflake,
  guild_id: toLenientField(Snowflake),
  emoji: toLenientField(
    z.object({ id: toLenientField(Snowflake), name: toLenientField(z.string()) }),
  ),
});
export type WireClearedReactions = z.infer<typeof WireClearedReactions>;

/**
 * The fields of a channel that Parley reads. The channel type: 1 for direct chats, 3 for private
 * groups, 10–12 for threads.
 */
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

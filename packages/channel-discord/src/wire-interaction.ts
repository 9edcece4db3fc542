import { withoutNulls } from '@parley/channels';
import { z } from 'zod';
import { Snowflake, text, toLenientField, toLenientList, WireMember, WireUser } from './wire.ts';

/**
 * An interaction's channel, which the bot may not be able to see. `recipients` are the other people
 * in a private channel.
 */
export const IncludedChannel = z.object({
  id: Snowflake,
  type: z.int(),
  name: toLenientField(z.string()),
  parent_id: toLenientField(Snowflake),
  owner_id: toLenientField(Snowflake),
  recipients: toLenientField(toLenientList(WireUser)),
});
export type IncludedChannel = z.infer<typeof IncludedChannel>;

const Option = z.object({
  name: text,
  value: toLenientField(z.union([z.string(), z.number(), z.boolean()])),
});
/**
 * The options of a slash command. A group of subcommands contains subcommands, which contain
 * options.
 */
const Options = toLenientList(
  Option.extend({ options: toLenientList(Option.extend({ options: toLenientList(Option) })) }),
);

/**
 * A slash command (type 2), a pressed button or a choice (type 3), or a completed form (type 5).
 */
export const WireInteraction = z.preprocess(
  withoutNulls,
  z.object({
    id: Snowflake,
    /** The application's id, which differs from the bot's own id for bots created before 2016. */
    application_id: Snowflake,
    type: z.int(),
    token: z.string(),
    channel: toLenientField(IncludedChannel),
    channel_id: toLenientField(Snowflake),
    guild_id: toLenientField(Snowflake),
    /**
     * The context: 0 for a server, 1 for direct messages with the bot, 2 for other people's private
     * channels.
     */
    context: toLenientField(z.int()),
    /** The bot's permissions in the channel, in decimal. */
    app_permissions: toLenientField(z.string().regex(/^\d+$/)),
    member: toLenientField(WireMember.extend({ user: WireUser })),
    user: toLenientField(WireUser),
    message: toLenientField(
      z.object({
        id: Snowflake,
        flags: toLenientField(z.int()),
        components: toLenientField(z.array(z.unknown())),
      }),
    ),
    data: toLenientField(
      z.object({
        name: toLenientField(z.string()),
        custom_id: toLenientField(z.string()),
        options: toLenientField(Options),
        /** The values chosen in a menu. */
        values: toLenientField(toLenientList(z.string())),
        /** The values entered into a form. */
        components: z.unknown().optional(),
      }),
    ),
  }),
);
export type WireInteraction = z.infer<typeof WireInteraction>;

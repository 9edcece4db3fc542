import { withoutNulls } from '@parley/channels';
import { z } from 'zod';
import { field, Snowflake, text, validItems, WireMember, WireUser } from './wire.ts';

/**
 * The channel of an interaction, which the bot might not be able to see. `recipients` are the other
 * people in a private channel.
 */
export const BroughtChannel = z.object({
  id: Snowflake,
  type: z.int(),
  name: field(z.string()),
  parent_id: field(Snowflake),
  owner_id: field(Snowflake),
  recipients: field(validItems(WireUser)),
});
export type BroughtChannel = z.infer<typeof BroughtChannel>;

const Option = z.object({
  name: text,
  value: field(z.union([z.string(), z.number(), z.boolean()])),
});
/**
 * The options of a slash command. A group of subcommands contains subcommands, which contain
 * options.
 */
const Options = validItems(
  Option.extend({ options: validItems(Option.extend({ options: validItems(Option) })) }),
);

/**
 * A slash command (type 2), a pressed button or a choice (type 3), or a filled-in form (type 5).
 */
export const WireInteraction = z.preprocess(
  withoutNulls,
  z.object({
    id: Snowflake,
    /** The application's id, which differs from the bot's own id for bots from before 2016. */
    application_id: Snowflake,
    type: z.int(),
    token: z.string(),
    channel: field(BroughtChannel),
    channel_id: field(Snowflake),
    guild_id: field(Snowflake),
    /**
     * The context: 0 for a server, 1 for direct messages with the bot, 2 for private channels of
     * other people.
     */
    context: field(z.int()),
    /** The permissions of the bot in the channel, in decimal. */
    app_permissions: field(z.string().regex(/^\d+$/)),
    member: field(WireMember.extend({ user: WireUser })),
    user: field(WireUser),
    message: field(
      z.object({ id: Snowflake, flags: field(z.int()), components: field(z.array(z.unknown())) }),
    ),
    data: field(
      z.object({
        name: field(z.string()),
        custom_id: field(z.string()),
        options: field(Options),
        /** The values chosen in a menu. */
        values: field(validItems(z.string())),
        /** The values entered into a form. */
        components: z.unknown().optional(),
      }),
    ),
  }),
);
export type WireInteraction = z.infer<typeof WireInteraction>;

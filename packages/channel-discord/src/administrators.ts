import type { SenderFacts } from '@parley/channels';
import { type Client, PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import type { WireMember } from './wire.ts';

/** Who wrote in which server, as the event says. */
export interface GuildAuthor {
  readonly guildId: string | undefined;
  readonly userId: string;
  readonly member: WireMember | null | undefined;
}

/** Each of these rights makes somebody an administrator: they may manage the server, or what others write. */
const ADMINISTRATORS = [
  PermissionFlagsBits.Administrator,
  PermissionFlagsBits.ManageGuild,
  PermissionFlagsBits.ManageMessages,
];

/**
 * Finds out whether the author of a message manages the server, from the event and the roles that
 * discord.js knows: nothing is asked. Messages fetched after downtime say nothing of it, which is a no.
 */
export function createAdministrators(
  current: () => Client | undefined,
): (author: GuildAuthor) => SenderFacts {
  return ({ guildId, userId, member }) => ({
    isAdministrator: async () => {
      const guild = guildId === undefined ? undefined : current()?.guilds.cache.get(guildId);
      if (guild?.ownerId === userId) return true;
      if (member?.permissions !== undefined) {
        return new PermissionsBitField(BigInt(member.permissions)).any(ADMINISTRATORS);
      }
      const roles = guild === undefined ? [] : [guild.id, ...(member?.roles ?? [])];
      return roles.some((id) => guild?.roles.cache.get(id)?.permissions.any(ADMINISTRATORS));
    },
  });
}

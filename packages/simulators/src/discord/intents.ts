/** The kinds of events a bot can ask for, as bits. */
export const INTENT = {
  guilds: 1 << 0,
  members: 1 << 1,
  presences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  guildTyping: 1 << 11,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  directTyping: 1 << 14,
  content: 1 << 15,
} as const;

/** Those that must be switched on in the developer portal; asking for others of them ends with 4014. */
export const PRIVILEGED = INTENT.members | INTENT.presences | INTENT.content;

/** Bits that mean an intent in API version 10: 0–16, 20, 21, 24, 25. Any other ends with 4013. */
const KNOWN = 0x1_ffff | (1 << 20) | (1 << 21) | (1 << 24) | (1 << 25);

/** Whether a number is a set of intents. */
export function areIntents(intents: number): boolean {
  return Number.isInteger(intents) && intents >= 0 && (intents & ~KNOWN) === 0;
}

/** The intent without which an event is not delivered; 0 when it always is. */
export function intentFor(event: string, inGuild: boolean): number {
  if (event.startsWith('MESSAGE_REACTION_'))
    return inGuild ? INTENT.guildReactions : INTENT.directReactions;
  if (event.startsWith('MESSAGE_')) return inGuild ? INTENT.guildMessages : INTENT.directMessages;
  if (event === 'TYPING_START') return inGuild ? INTENT.guildTyping : INTENT.directTyping;
  if (event.startsWith('GUILD_MEMBER_')) return INTENT.members;
  if (event.startsWith('GUILD_ROLE_')) return INTENT.guilds;
  if (event === 'THREAD_CREATE' || event === 'THREAD_UPDATE' || event === 'THREAD_DELETE')
    return INTENT.guilds;
  if (event.startsWith('CHANNEL_')) return inGuild ? INTENT.guilds : INTENT.directMessages;
  return event === 'GUILD_CREATE' || event === 'GUILD_DELETE' ? INTENT.guilds : 0;
}

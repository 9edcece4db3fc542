import { discord } from '@parley/channel-discord';
import { telegram } from '@parley/channel-telegram';
import { whatsapp } from '@parley/channel-whatsapp';
import type { ChannelDefinition } from '@parley/channels';
import { terminal, web } from '@parley/channels/web';

/**
 * All built-in channels. The list is cheap to import, because `load` imports a platform's library
 * only when needed (F03).
 */
export const CHANNEL_DEFINITIONS: readonly ChannelDefinition[] = [
  web,
  terminal,
  discord,
  telegram,
  whatsapp,
];

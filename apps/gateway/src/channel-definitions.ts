import { discord } from '@parley/channel-discord';
import { telegram } from '@parley/channel-telegram';
import { whatsapp } from '@parley/channel-whatsapp';
import type { ChannelDefinition } from '@parley/channels';
import { terminal, web } from '@parley/channels/web';

/**
 * All channels of this gateway. Cheap to import: a platform's library is loaded by `load` (F03).
 */
export const CHANNEL_DEFINITIONS: readonly ChannelDefinition[] = [
  web,
  terminal,
  discord,
  telegram,
  whatsapp,
];

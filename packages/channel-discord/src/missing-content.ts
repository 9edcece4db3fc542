import type { ChannelContext } from '@parley/channels';
import { type InboundMessage, reasonOf } from '@parley/core';
import { decideAfterConnectionFailure, NO_CONTENT } from './failures.ts';
import type { DiscordSettings } from './settings.ts';

/**
 * Three empty messages in a row indicate a missing intent. A single one may be content that only
 * Discord's client can show.
 */
const EMPTY_IN_A_ROW = 3;

/**
 * Detects that Discord withholds what people write in servers although it accepted the login.
 * Notifies the owner once a day. If the login requests the intent but the bot does not have it, the
 * login fails with the same advice.
 */
export function createMissingContentDetector({
  settings,
  clock,
  notifyOwner,
  log,
}: Pick<ChannelContext<DiscordSettings>, 'settings' | 'clock' | 'notifyOwner' | 'log'>): (
  message: InboundMessage,
) => void {
  let empty = 0;
  return ({ chat, sender, text, attachments, addressed }) => {
    // Messages that mention the bot always include their text.
    if (!settings.messageContent || chat.type === 'direct' || sender.isBot || addressed) return;
    empty = text === '' && attachments === undefined ? empty + 1 : 0;
    if (empty !== EMPTY_IN_A_ROW) return;
    const ending = { reason: '', closeCode: NO_CONTENT };
    const why = decideAfterConnectionFailure(ending, 0, 0, 0);
    const fix = why.kind === 'give-up' ? why.fix : '';
    log.warn({ fix }, 'messages arrive without their text');
    const day = new Date(clock()).toISOString().slice(0, 10);
    const note = `Messages in Discord servers arrive without their text: ${why.reason}. ${fix}`;
    notifyOwner(`no content ${day}`, note).catch((thrown: unknown) =>
      log.warn({ reason: reasonOf(thrown) }, 'the owner could not be notified'),
    );
  };
}

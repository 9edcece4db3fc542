import { SILENT_TOKEN } from '@parley/contracts';
import type { AdmittedMessage, InboxRow } from '@parley/store';

/**
 * What the model is told after a start. The mark shows it that no person wrote this; people never
 * see the message. The last sentence keeps a start without news silent (G09).
 */
const WORDS = `⚙️ Parley has just been started. Do now what BOOT.md in your workspace asks for (read it if it is not above). Your owner reads what you answer here; if there is nothing to tell, answer with exactly ${SILENT_TOKEN} and nothing else.`;

/**
 * The message that makes the agent do what BOOT.md says (W08), put where an owner wrote `last`.
 * `startId` is unique for this start: the inbox takes a message of that id once. `now` is in ms.
 */
export function bootMessage(
  last: InboxRow,
  conversationId: string,
  startId: string,
  now: number,
): AdmittedMessage {
  const { channel, account, chat, sender } = last.message;
  return {
    conversationId,
    route: last.route,
    receivedAt: now,
    fromOwner: true,
    reason: 'Parley was started, and BOOT.md says what to do then',
    message: {
      channel,
      account,
      messageId: startId,
      chat,
      sender,
      text: WORDS,
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
      occasion: 'boot',
    },
  };
}

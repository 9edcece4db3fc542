import { everyChannel } from './channels/every-channel.ts';
import { googleChatPeer } from './channels/google-chat-peer.ts';

everyChannel('Google Chat', googleChatPeer, [
  ...(['edits', 'deletes', 'forms', 'administrators', 'pings', 'format-refused'] as const),
]);

import { everyChannel } from './channels/every-channel.ts';
import { startGoogleChatPeer } from './channels/google-chat-peer.ts';

everyChannel('Google Chat', startGoogleChatPeer, [
  ...(['edits', 'deletes', 'forms', 'administrators', 'pings', 'format-refused'] as const),
]);

import { everyChannel } from './channels/every-channel.ts';
import { startLinearPeer } from './channels/linear-peer.ts';

everyChannel('Linear', startLinearPeer, [
  ...(['direct-chats', 'albums', 'edits', 'deletes', 'documents', 'buttons'] as const),
  ...(['forms', 'administrators', 'format-refused'] as const),
]);

import { everyChannel } from './channels/every-channel.ts';
import { linearPeer } from './channels/linear-peer.ts';

everyChannel('Linear', linearPeer, [
  ...(['direct-chats', 'albums', 'edits', 'deletes', 'documents', 'buttons'] as const),
  ...(['forms', 'administrators', 'format-refused'] as const),
]);

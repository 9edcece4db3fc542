import { everyChannel } from './channels/every-channel.ts';
import { githubPeer } from './channels/github-peer.ts';

everyChannel('GitHub', githubPeer, [
  ...(['albums', 'edits', 'deletes', 'documents', 'quotes', 'buttons', 'forms'] as const),
  ...(['direct-chats', 'administrators', 'format-refused'] as const),
]);

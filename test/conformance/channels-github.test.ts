import { everyChannel } from './channels/every-channel.ts';
import { startGitHubPeer } from './channels/github-peer.ts';

everyChannel('GitHub', startGitHubPeer, [
  ...(['albums', 'edits', 'deletes', 'documents', 'quotes', 'buttons', 'forms'] as const),
  ...(['direct-chats', 'administrators', 'format-refused'] as const),
]);
